// A tab that is killed between any two steps of an order, and what the next visit finds: no money lost, and no order.
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  type Client,
  createClient,
  type Hex,
  type OrderRequest,
  type OrderStore,
  type PlaceOptions,
} from '../../src/client/index.js'
import { createMemoryOrderStore } from '../../src/client/store/index.js'
import { postOrderSchema } from '../../src/protocol/postedOrder.js'
import type { ApiAnswer } from '../support/apiStandIn.js'
import { orderOf, refund } from '../support/authorizations.js'
import { EMPTY, orderActions, STATE } from '../support/orderActions.js'
import { answerAsServer, FAST, NO_STATUS, receive, WALLET_USDC } from './clientSetting.js'
import { usePlacing } from './placing.js'
import { createTestWallet, type TestWalletOptions } from './testWallet.js'

const { chain, api, posted, balance, openAsSigned, setting } = await usePlacing()
const { presentOf, relay, stateOf } = orderActions(chain)
/** A signed opening is of use for so long. */
const VALID_S = 600

interface Flavour {
  readonly title: string
  readonly wallet?: Omit<TestWalletOptions, 'prompt'>
  readonly options?: PlaceOptions
  /** Everything that a visit does to the world, in order. */
  readonly steps: readonly string[]
}

const KEY = ['personal_sign', 'personal_sign']
const SIGN = ['eth_signTypedData_v4']
const END = ['GET', 'GET', 'forget']
const FLAVOURS: readonly Flavour[] = [
  {
    title: 'that the wallet pays',
    steps: [...KEY, ...SIGN, ...SIGN, 'keep', 'eth_sendTransaction', 'POST', ...END],
  },
  {
    title: 'that the wallet pays in a batch',
    wallet: { atomic: 'supported' },
    steps: [...KEY, ...SIGN, 'keep', 'wallet_sendCalls', 'POST', ...END],
  },
  {
    title: 'that the platform opens',
    options: { sponsored: true },
    steps: [...KEY, ...SIGN, ...SIGN, 'keep', 'POST', ...END],
  },
]

/** One visit of the page. Once it is killed, nothing that it began goes on. */
class Visit {
  readonly steps: string[] = []
  readonly stop = new AbortController()
  readonly died: Promise<void>
  #die = () => {}
  #isDead = false

  /** @param killedBefore the number of a step that is not done any more: one that is done without an answer leaves what stands before the next */
  constructor(readonly killedBefore = Number.POSITIVE_INFINITY) {
    this.died = new Promise((resolve) => {
      this.#die = resolve
    })
    onTestFinished(() => this.stop.abort())
  }

  async step<T>(name: string, act: () => Promise<T>): Promise<T> {
    if (this.#isDead) return this.#never()
    return this.killedBefore === this.steps.push(name) - 1 ? this.#never() : act()
  }

  #never(): Promise<never> {
    this.#isDead = true
    this.#die()
    return new Promise(() => undefined)
  }
}

/** A client of this visit, over what the browser has kept. */
function clientIn(visit: Visit, store: OrderStore, wallet: Flavour['wallet']): Client {
  const orderStore: OrderStore = {
    ...store,
    keep: (order) => visit.step('keep', () => store.keep(order)),
    forget: (orderId) => visit.step('forget', () => store.forget(orderId)),
  }
  const prompt: TestWalletOptions['prompt'] = (method, act) => visit.step(method, act)
  return createClient({
    serverUrl: api.url,
    wallet: createTestWallet(chain(), { ...wallet, prompt }),
    timing: FAST,
    allowUnattested: true,
    orderStore,
    fetch: (url, init) => {
      const isOrder = String(url).includes('/orders')
      return isOrder ? visit.step(init?.method ?? 'GET', () => fetch(url, init)) : fetch(url, init)
    },
  })
}

/** A server that opens what it is given with a signature, and whose enclave refuses each order when it is asked a second time. */
function answerAsPlatform(): void {
  const asked = new Set<Hex>()
  async function statusOf(orderId: Hex): Promise<ApiAnswer> {
    const state = asked.has(orderId) ? 'REFUNDED' : 'OPEN'
    if (asked.has(orderId)) await refuse(orderId)
    asked.add(orderId)
    return { body: { ...NO_STATUS, orderId, state } }
  }
  async function take(body: unknown): Promise<ApiAnswer> {
    const { orderId, opening } = postOrderSchema.parse(body)
    if (opening !== undefined && (await stateOf(orderId)) === 0n) await openAsSigned(body)
    return receive(body)
  }
  answerAsServer(api, chain(), ({ method, path, body }) => {
    if (method === 'POST') return take(body)
    return path.startsWith('/orders/') ? statusOf(`0x${path.slice('/orders/0x'.length)}`) : undefined
  })
}

/** The enclave refuses the order, as one of an account without a portfolio. */
async function refuse(orderId: Hex): Promise<void> {
  const present = { ...(await presentOf('alice')), ...EMPTY }
  await relay(refund(await orderOf(chain(), orderId), present))
}

/** Places an order and follows it to its end, or until the visit is killed. */
async function trade(client: Client, visit: Visit, request: OrderRequest, options?: PlaceOptions) {
  const { signal } = visit.stop
  const going = async () => {
    const { order } = await client.placeOrder(request, { ...options, signal })
    for await (const { state } of client.listOrderStatuses(order.orderId, { signal, pollMs: 1 })) {
      if (state === 'REFUNDED') return
    }
  }
  await Promise.race([going(), visit.died])
}

/** A store that tells which orders it was ever given. */
function notingStore() {
  const store = createMemoryOrderStore()
  const ids: Hex[] = []
  const keep: OrderStore['keep'] = async (order) => {
    ids.push(order.orderId)
    await store.keep(order)
  }
  return { store: { ...store, keep }, ids }
}

async function resumeAll(client: Client): Promise<string[]> {
  const kept = await client.getKeptOrders()
  return Promise.all(kept.map(({ orderId }) => client.resumeOrder(orderId)))
}

describe.each(FLAVOURS)('an order $title', ({ wallet, options, steps }) => {
  const kills = [...steps, 'its end'].map((name, step) => ({ name, step }))
  it.each(kills)('is lost in no part by a tab that is killed before step $step, $name', async ({ step }) => {
    const { buy } = await setting()
    answerAsPlatform()
    const { store, ids } = notingStore()
    const visit = new Visit(step)
    await trade(clientIn(visit, store, wallet), visit, buy, options)
    expect(visit.steps).toEqual(steps.slice(0, step + 1))

    const next = new Visit()
    const client = clientIn(next, store, wallet)
    const resumed = await resumeAll(client)
    for (const orderId of ids) {
      const isOpen = (await stateOf(orderId)) === STATE.OPEN
      // What has the money is at the server, and still here.
      const isPosted = posted().some(({ body }) => postOrderSchema.parse(body).orderId === orderId)
      expect([isPosted, resumed]).toEqual(isOpen ? [true, ['submitted']] : [isPosted, resumed])
      if (isOpen) await refuse(orderId)
    }
    // Nothing that was signed and not used is of use any more.
    await chain().mineAt((await chain().now()) + VALID_S)
    const again = await resumeAll(client)
    expect(again.every((each) => ['ended', 'void', 'unopened'].includes(each))).toBe(true)
    // What was open, or could still be opened, has stayed here.
    expect(again).toHaveLength(resumed.filter((each) => !['ended', 'void'].includes(each)).length)
    expect(await balance()).toBe(WALLET_USDC)
    // The wallet asks for nothing by itself, and the next order goes its way.
    expect(next.steps.filter((name) => name.includes('_'))).toEqual([])
    await trade(client, next, buy, options)
    expect(await balance()).toBe(WALLET_USDC)
  })
})
