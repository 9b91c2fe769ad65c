import * as z from 'zod'

const codeSchema = z.object({ code: z.union([z.int(), z.string()]) })
/** Some wallets wrap an error into another one, which always has code -32603. */
const wrappedSchema = z.object({ data: z.object({ originalError: codeSchema }) })

/** The code of a wallet's error (EIP-1193), taken from the inner error if it is wrapped. */
export function walletCode(error: unknown): number | string | undefined {
  const inside = wrappedSchema.safeParse(error).data?.data.originalError
  return (inside ?? codeSchema.safeParse(error).data)?.code
}
