import { onTestFinished, vi } from 'vitest'
import { checksum } from '../../../../src/protocol/address.js'
import type { OrderReceived } from '../../../../src/protocol/api.js'
import { commitOf, type Envelope } from '../../../../src/protocol/envelope.js'
import type { Hex } from '../../../../src/protocol/hex.js'
import { bytes32 } from '../../../support/institution.js'
import { SERVER_ENVIRONMENT } from '../../../support/serverEnvironment.js'
import { createModelEnclave, type ModelEnclave, type ModelRun } from './enclave.js'
import { createEscrowChain, type EscrowChain } from './escrowChain.js'
import { startLife } from './life.js'

/** Three orders, two of them of one account. */
export const ORDERS = ['first', 'second', 'other'] as const
export type OrderName = (typeof ORDERS)[number]
const ACCOUNTS = { first: '0xa1', second: '0xa1', other: '0xb2' }

export type Market = Awaited<ReturnType<typeof openMarket>>

export function envelopeOf(text: string): Envelope {
  const epk: Hex = `0x${SERVER_ENVIRONMENT.INTENT_PUBKEY.slice(2)}`
  return { epk, iv: `0x${'11'.repeat(12)}`, ct: bytes32(text), tag: `0x${'22'.repeat(16)}` }
}

/** An order as its owner knows it. */
function own(name: OrderName) {
  const envelope = envelopeOf(`${name}, sealed`)
  const account = checksum(`0x${ACCOUNTS[name].slice(2).repeat(20)}`)
  return { orderId: bytes32(name), account, envelope, commit: commitOf(envelope) }
}

export const owned = { first: own('first'), second: own('second'), other: own('other') }

/** Replaces the clock for the length of the running test. */
export function useModelClock(): void {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'],
    now: Date.UTC(2026, 0, 5),
  })
  onTestFinished(() => {
    vi.useRealTimers()
  })
}

/**
 * Everything around the server, and the server of now.
 * @param turn see `startLife`
 */
export async function openMarket(root: string, turn: (step: string) => Promise<void>) {
  const chain = createEscrowChain(Date.now)
  const broken: string[] = []
  const enclave: ModelEnclave = createModelEnclave((run) => {
    const fault = faultOf(run, chain, enclave)
    if (fault !== undefined) broken.push(fault)
  })
  const start = () => startLife(root, chain, enclave, turn)
  let life = await start()
  return {
    chain,
    enclave,
    /** Broken rules, oldest first. */
    broken,
    life: () => life,
    /** The process is killed, and another one started on the same directory. */
    async restart() {
      life.kill()
      life = await start()
    },
    async post({ orderId }: { readonly orderId: Hex }, envelope: Envelope): Promise<OrderReceived> {
      const answer = await life.orders.receive({ orderId, ...envelope }, 'a client')
      if (typeof answer === 'string') throw new Error(`not received: ${answer}`)
      return answer
    },
    /** Lets so many milliseconds pass. */
    async pass(ms: number) {
      await vi.advanceTimersByTimeAsync(ms)
    },
  }
}

/** The rule that a new run breaks, if any. */
function faultOf(
  { orderId, commit }: ModelRun,
  chain: EscrowChain,
  { runs }: ModelEnclave,
): string | undefined {
  const order = Object.values(owned).find((one) => one.orderId === orderId)
  if (order === undefined || chain.stateOf(orderId) === 'NONE') return 'a run of an order without an escrow'
  if (commit !== null && commit !== order.commit)
    return 'a run of an order with an envelope that is not its own'
  const siblings = Object.values(owned).filter(({ account }) => account === order.account)
  const busy = runs.some((run) => !run.isOver && siblings.some((sibling) => sibling.orderId === run.orderId))
  return busy ? 'a second run of one account' : undefined
}
