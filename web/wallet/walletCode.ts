import * as z from 'zod'

const codeSchema = z.object({ code: z.union([z.int(), z.string()]) })
/** Some wallets hand an error on inside of another one, which is -32603 always. */
const wrappedSchema = z.object({ data: z.object({ originalError: codeSchema }) })

/** The code of what a wallet threw (EIP-1193): of the error inside, where it is wrapped into another one. */
export function walletCode(error: unknown): number | string | undefined {
  const inside = wrappedSchema.safeParse(error).data?.data.originalError
  return (inside ?? codeSchema.safeParse(error).data)?.code
}
