import { randomUUID } from 'node:crypto'
import type { Server } from 'node:http'
import { type RawData, type WebSocket, WebSocketServer } from 'ws'
import { z } from 'zod'
import { formatDecimal, PRICE_DECIMALS, SHARE_DECIMALS } from '../protocol/units.js'
import type { controlSchemas } from './controlSchemas.js'
import { createLater } from './later.js'
import { createRandom } from './random.js'
import { nanoTime, orderJson } from './shapes.js'
import type { OrderStatus, StandInAccount, StandInOrder } from './types.js'

/** Statuses without a documented event: nobody is told of them. */
const UNTOLD: ReadonlySet<OrderStatus> = new Set(['held', 'accepted_for_bidding'])

/** The documented event of an order's new status: its name, but for fills. */
function eventOf(status: OrderStatus): string {
  if (status === 'filled') return 'fill'
  return status === 'partially_filled' ? 'partial_fill' : status
}

type StreamBehaviour = Omit<z.output<typeof controlSchemas.stream>, 'disconnect' | 'invent'>

export interface LastFill {
  readonly qty: bigint
  readonly price: bigint
}

export interface StandInStream {
  /** Announces an order's new status. */
  announce(order: StandInOrder, fill: LastFill | undefined): void
  behave(behaviour: StreamBehaviour): void
  /** Sends a fabricated event, of a known order or of one that does not exist. */
  invent(event: {
    readonly account: string
    readonly event: string
    readonly clientOrderId?: string | undefined
  }): void
  disconnect(): void
  stop(): void
}

const clientMessageSchema = z.discriminatedUnion('action', [
  z.object({ action: z.literal('auth'), key: z.string(), secret: z.string() }),
  z.object({ action: z.literal('listen'), data: z.object({ streams: z.array(z.string()) }) }),
])

/** The `trade_updates` stream at `/stream`, as documented: authenticate, listen, events of the account's orders. */
export function createStream(deps: {
  readonly accounts: readonly StandInAccount[]
  readonly seed: number
  readonly now: () => Date
}): StandInStream & { attach(server: Server): void } {
  const { accounts, now } = deps
  const random = createRandom(deps.seed)
  const happens = (share = 0) => random() / 2 ** 32 < share
  const sockets = new WebSocketServer({ noServer: true })
  /** Authenticated connections; each receives events once it listens. */
  const authorized = new Map<WebSocket, StandInAccount>()
  const listening = new Set<WebSocket>()
  const later = createLater()
  let behaviour: StreamBehaviour = {}

  function send(socket: WebSocket, message: object): void {
    if (behaviour.silent) return
    socket.send(Buffer.from(JSON.stringify(message)), { binary: behaviour.text !== true })
  }

  function answer(socket: WebSocket, data: RawData): void {
    const message = clientMessageSchema.safeParse(jsonOf(data)).data
    if (message?.action === 'auth') {
      const account = accounts.find(
        ({ keyId, secretKey }) => keyId === message.key && secretKey === message.secret,
      )
      if (account !== undefined) authorized.set(socket, account)
      const status = account === undefined ? 'unauthorized' : 'authorized'
      send(socket, { stream: 'authorization', data: { status, action: 'authenticate' } })
    } else if (message?.action === 'listen' && !authorized.has(socket)) {
      send(socket, { stream: 'authorization', data: { status: 'unauthorized', action: 'listen' } })
    } else if (message?.action === 'listen') {
      const streams = message.data.streams.filter((stream) => stream === 'trade_updates')
      if (streams.length > 0) listening.add(socket)
      else listening.delete(socket)
      send(socket, { stream: 'listening', data: { streams } })
    } else {
      send(socket, { action: 'error', data: { error_message: 'internal server error' } })
      socket.close()
    }
  }

  function publish(account: StandInAccount, data: object): void {
    if (happens(behaviour.drop)) return
    const copies = happens(behaviour.repeat) ? 2 : 1
    for (let copy = 0; copy < copies; copy++) {
      later.after(behaviour.shuffleMs === undefined ? 0 : random() % (behaviour.shuffleMs + 1), () => {
        for (const socket of listening) {
          if (authorized.get(socket) === account) send(socket, { stream: 'trade_updates', data })
        }
      })
    }
  }

  function dataOf(
    account: StandInAccount,
    order: StandInOrder,
    event: string,
    fill: LastFill | undefined,
  ): object {
    const isFill = fill !== undefined && (event === 'fill' || event === 'partial_fill')
    const held = account.positions.get(order.symbol)?.qty ?? 0n
    return {
      event,
      ...(isFill && { execution_id: randomUUID() }),
      order: orderJson(order),
      ...(isFill && {
        position_qty: formatDecimal(held, SHARE_DECIMALS),
        price: formatDecimal(fill.price, PRICE_DECIMALS),
        qty: formatDecimal(fill.qty, SHARE_DECIMALS),
      }),
      timestamp: nanoTime(now()),
    }
  }

  sockets.on('connection', (socket) => {
    socket.on('message', (data) => answer(socket, data))
    socket.on('error', () => socket.terminate())
    socket.on('close', () => {
      authorized.delete(socket)
      listening.delete(socket)
    })
  })

  return {
    attach(server) {
      server.on('upgrade', (request, socket, head) => {
        if (request.url !== '/stream' || behaviour.refuse) return socket.destroy()
        sockets.handleUpgrade(request, socket, head, (opened) => sockets.emit('connection', opened, request))
      })
    },
    announce(order, fill) {
      const account = accounts.find(({ orders }) => orders.get(order.clientOrderId) === order)
      if (account === undefined || UNTOLD.has(order.status)) return
      publish(account, dataOf(account, order, eventOf(order.status), fill))
    },
    behave(next) {
      behaviour = next
    },
    invent({ account: name, event, clientOrderId }) {
      const account = accounts.find((each) => each.name === name)
      if (account === undefined) throw new RangeError(`no such account: ${name}`)
      const known = clientOrderId === undefined ? undefined : account.orders.get(clientOrderId)
      const [template] = account.orders.values()
      const order = known ?? template
      if (order === undefined) throw new RangeError(`${name} has no order to take for a pattern`)
      const ids = known ? {} : { id: randomUUID(), client_order_id: clientOrderId ?? randomUUID() }
      // Values that would cost a client money if it trusted them.
      const claims = { status: 'filled', filled_qty: '1000000', filled_avg_price: '0.01' }
      const fill = { qty: 1n, price: 1n }
      publish(account, {
        ...dataOf(account, order, event, fill),
        order: { ...orderJson(order), ...ids, ...claims },
      })
    },
    disconnect() {
      for (const socket of sockets.clients) socket.terminate()
    },
    stop() {
      later.stop()
      for (const socket of sockets.clients) socket.terminate()
      sockets.close()
    },
  }
}

function jsonOf(data: RawData): unknown {
  try {
    return JSON.parse(data.toString())
  } catch {
    return undefined
  }
}
