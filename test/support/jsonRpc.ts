import { z } from 'zod'

/** A JSON-RPC request without its envelope. */
export type RpcCall = [method: string, ...params: unknown[]]

const answersSchema = z.array(
  z.object({
    id: z.number(),
    result: z.unknown().optional(),
    error: z.object({ message: z.string() }).optional(),
  }),
)

/** Sends the calls as one HTTP request and returns their results in order. Rejects when one of them failed. */
export async function rpcBatch(url: string, calls: RpcCall[]): Promise<unknown[]> {
  const body = calls.map(([method, ...params], id) => ({ jsonrpc: '2.0', id, method, params }))
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
  const answers = answersSchema.parse(await response.json())
  const results = new Array<unknown>(calls.length)
  for (const { id, result, error } of answers) {
    if (error) throw new Error(`${calls[id]?.[0]}: ${error.message}`)
    results[id] = result
  }
  return results
}
