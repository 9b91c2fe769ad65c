import fc from 'fast-check'
import { expect } from 'vitest'
import { commitOf, type Envelope } from '../../../../src/protocol/envelope.js'
import type { RunResult } from '../../../../src/protocol/job.js'
import { envelopeOf, type Market, ORDERS, type OrderName, owned } from './market.js'
import { type Model, takeIn } from './model.js'

type Command = fc.AsyncCommand<Model, Market, true>
/** Runs after each command. */
type After = (model: Model, market: Market) => Promise<void>

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

/** Commands after each of which the server comes to rest: then it knows exactly what the model knows. */
export function inTurn(settle: (market: Market) => Promise<void>): fc.Arbitrary<Command>[] {
  const after: After = async (model, market) => {
    await settle(market)
    await expectSame(model, market)
  }
  return commandsOf(after, async (model, market, name, envelope) => {
    const { orderId, commit } = owned[name]
    const answer = await market.post(owned[name], envelope)
    const isVisible = market.chain.stateOf(orderId) !== 'NONE'
    expect(answer).toMatchObject({ orderId, ...takeIn(model, owned[name], commitOf(envelope), isVisible) })
    if (answer.commit === commit) model.acknowledged.add(orderId)
  })
}

/** The same, none of which waits for anything. */
export function inOneGo(): fc.Arbitrary<Command>[] {
  const nothing: After = async () => undefined
  return commandsOf(nothing, async (model, market, name, envelope) => {
    const { orderId, commit } = owned[name]
    // A server that is killed before its answer never answers.
    void market.post(owned[name], envelope).then(
      (answer) => {
        if (answer.commit === commit) model.acknowledged.add(orderId)
      },
      (error) => model.refused.push(`${name}: ${error}`),
    )
  })
}

type Post = (model: Model, market: Market, name: OrderName, envelope: Envelope) => Promise<void>

function commandsOf(after: After, post: Post): fc.Arbitrary<Command>[] {
  const command = (name: string, act: (market: Market, model: Model) => Promise<void>): Command => ({
    check: async () => true,
    toString: () => name,
    async run(model, market) {
      await act(market, model)
      await after(model, market)
    },
  })
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
  if (wasRun && chain.stateOf(orderId) === 'OPEN') chain.end(orderId, 'SETTLED')
}

/** Expects the stored envelopes, and that ended orders are put away. */
async function expectSame(model: Model, market: Market): Promise<void> {
  const open = await market.life().records.openIds()
  for (const name of ORDERS) {
    const { orderId, commit } = owned[name]
    const runs = market.enclave.runs.filter((run) => run.orderId === orderId)
    // Once a run had it, the others are let go.
    if (runs.some((run) => run.commit !== null)) model.stored.set(orderId, [commit])
    const record = await market.life().records.get(orderId)
    const stored = record?.candidates.map((candidate) => candidate.commit) ?? []
    expect(stored, name).toEqual(model.stored.get(orderId))
    const isOver = market.chain.stateOf(orderId) === 'SETTLED' && runs.every((run) => run.isOver)
    expect(open.includes(orderId), `${name} is open`).toBe(record !== undefined && !isOver)
  }
}
