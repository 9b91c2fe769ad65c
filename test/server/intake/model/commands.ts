import fc from 'fast-check'
import type { Envelope } from '../../../../src/protocol/envelope.js'
import type { Hex } from '../../../../src/protocol/hex.js'
import type { RunResult } from '../../../../src/protocol/job.js'
import { envelopeOf, type Market, ORDERS, type OrderName, owned } from './market.js'

type Command = fc.AsyncCommand<Model, Market, true>
/** What the posters know. */
export interface Model {
  /** Orders whose owner was answered with the commit of the right envelope. */
  readonly acknowledged: Set<Hex>
  /** Posts that were not answered with a 202. */
  readonly refused: string[]
}

const JUNK = 10
const LOOK_MS = 2_400
const FAR = 4_000_000_000
const OUTCOMES: readonly RunResult[] = [
  { outcome: 'placed', retryAt: FAR },
  { outcome: 'queued', retryAt: FAR },
  { outcome: 'failed' },
  { outcome: 'rejected' },
]

const order = fc.constantFrom(...ORDERS)
const junk = fc.integer({ min: 1, max: JUNK })
const outcome = fc.constantFrom(...OUTCOMES)

/** None of them waits for anything. */
export function commands(): fc.Arbitrary<Command>[] {
  const command = (name: string, act: (market: Market, model: Model) => Promise<void>): Command => ({
    check: async () => true,
    toString: () => name,
    run: async (model, market) => act(market, model),
  })
  async function post(model: Model, market: Market, name: OrderName, envelope: Envelope): Promise<void> {
    const { orderId, commit } = owned[name]
    // A server that is killed before its answer never answers.
    void market.post(owned[name], envelope).then(
      (answer) => {
        if (answer.commit === commit) model.acknowledged.add(orderId)
      },
      (error) => model.refused.push(`${name}: ${error}`),
    )
  }
  return [
    order.map((name) =>
      command(`post ${name}`, (market, model) => post(model, market, name, owned[name].envelope)),
    ),
    fc.tuple(order, junk).map(([name, nth]) => {
      const title = `junk ${nth} under ${name}`
      return command(title, (market, model) => post(model, market, name, envelopeOf(title)))
    }),
    order.map((name) => command(`open ${name}`, async ({ chain }) => open(chain, name))),
    order.map((name) => command(`settle ${name}`, async (market) => settleOnChain(market, name))),
    outcome.map((result) =>
      command(`end a run as ${result.outcome}`, async ({ enclave }) => {
        enclave.endNext(result)
      }),
    ),
    fc.constant(command('restart', (market) => market.restart())),
    fc.constant(command('wait', (market) => market.pass(LOOK_MS))),
  ]
}

function open(chain: Market['chain'], name: OrderName): void {
  const { orderId, account, commit } = owned[name]
  if (chain.stateOf(orderId) === 'NONE') chain.open(orderId, account, commit)
}

/** Only the enclave can settle, and only what it was given. */
function settleOnChain({ chain, enclave }: Market, name: OrderName): void {
  const { orderId } = owned[name]
  const wasRun = enclave.runs.some((run) => run.orderId === orderId && run.commit !== null)
  if (wasRun && chain.stateOf(orderId) === 'OPEN') chain.settle(orderId)
}
