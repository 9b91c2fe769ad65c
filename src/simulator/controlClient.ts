import { z } from 'zod'
import type { ControlCommand, ControlInput } from './controlSchemas.js'

const orderViewSchema = z.looseObject({
  account: z.string(),
  id: z.string(),
  client_order_id: z.string(),
  symbol: z.string(),
  side: z.enum(['buy', 'sell']),
  status: z.string(),
  notional: z.string().nullable(),
  qty: z.string().nullable(),
  filled_qty: z.string(),
  filled_avg_price: z.string().nullable(),
  replaces: z.string().nullable(),
  created_at: z.string(),
})

const accountViewSchema = z.object({
  name: z.string(),
  /** Cash minus accrued fees. */
  cash: z.string(),
  positions: z.record(z.string(), z.string()),
})
export type AccountView = z.output<typeof accountViewSchema>

/** One request to Alpaca's routes. It holds no key: `account` is the account's name, null for refused keys. */
const seenRequestSchema = z.object({
  at: z.string(),
  account: z.string().nullable(),
  method: z.string(),
  /** Path and query. */
  url: z.string(),
  body: z.unknown().optional(),
  /** The answer's status; `dropped` if the connection was cut instead. */
  outcome: z.union([z.number(), z.literal('dropped')]),
})
export type SeenRequest = z.output<typeof seenRequestSchema>

/**
 * Controls a stand-in in another process.
 * @example
 * const broker = createBrokerControlClient(sandbox.brokerUrl)
 * await broker.run('clock', { open: false })
 */
export function createBrokerControlClient(brokerUrl: string) {
  async function call(path: string, init?: RequestInit): Promise<string> {
    const response = await fetch(`${brokerUrl}/sandbox/${path}`, init)
    const text = await response.text()
    if (!response.ok) throw new Error(`stand-in: ${path}: ${response.status} ${text}`)
    return text
  }
  async function view<T>(path: string, schema: z.ZodType<T>): Promise<T[]> {
    return z.array(schema).parse(JSON.parse(await call(path)))
  }
  return {
    /** `POST /sandbox/<command>`; throws with the stand-in's reason if it refuses. */
    async run<C extends ControlCommand>(command: C, input: ControlInput<C>): Promise<void> {
      await call(command, { method: 'POST', body: JSON.stringify(input) })
    },
    orders: (): Promise<z.output<typeof orderViewSchema>[]> => view('orders', orderViewSchema),
    accounts: (): Promise<z.output<typeof accountViewSchema>[]> => view('accounts', accountViewSchema),
    requests: (): Promise<z.output<typeof seenRequestSchema>[]> => view('requests', seenRequestSchema),
  }
}

export type BrokerControlClient = ReturnType<typeof createBrokerControlClient>
