import { randomUUID } from 'node:crypto'
import type { Server } from 'node:http'
import { type RawData, type WebSocket, WebSocketServer } from 'ws'
import * as z from 'zod'
import { formatDecimal, PRICE_DECIMALS, SHARE_DECIMALS } from '../protocol/units.js'
import { nanoTime, orderJson } from './shapes.js'
import type { OrderStatus, StandInAccount, StandInOrder } from './types.js'

/** Statuses without a documented event: nobody is told of them. */
const UNTOLD: ReadonlySet<OrderStatus> = new Set(['held', 'accepted_for_bidding'])

/** The documented event of an order's new status: its name, but for fills. */
function eventOf(status: OrderStatus): string {
  if (status === 'filled') return 'fill'
  return status === 'partially_filled' ? 'partial_fill' : status
}

export interface LastFill {
  readonly qty: bigint
  readonly price: bigint
}

const clientMessageSchema = z.discriminatedUnion('action', [
  z.object({ action: z.literal('auth'), key: z.string(), secret: z.string() }),
  z.object({ action: z.literal('listen'), data: z.object({ streams: z.array(z.string()) }) }),
])

/** The `trade_updates` stream at `/stream`, as documented: authenticate, listen, events of the account's orders. */
export function createStream(deps: {
  readonly accounts: readonly StandInAccount[]
  readonly now: () => Date
}) {
  const { accounts, now } = deps
  const sockets = new WebSocketServer({ noServer: true })
  /** Authenticated connections; each receives events once it listens. */
  const authorized = new Map<WebSocket, StandInAccount>()
  const listening = new Set<WebSocket>()

  /** In a binary frame, as for a paper account. */
  function send(socket: WebSocket, message: object): void {
    socket.send(Buffer.from(JSON.stringify(message)), { binary: true })
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

  sockets.on('connection', (socket) => {
    socket.on('message', (data) => answer(socket, data))
    socket.on('error', () => socket.terminate())
    socket.on('close', () => {
      authorized.delete(socket)
      listening.delete(socket)
    })
  })

  return {
    attach(server: Server): void {
      server.on('upgrade', (request, socket, head) => {
        if (request.url !== '/stream') return socket.destroy()
        sockets.handleUpgrade(request, socket, head, (opened) => sockets.emit('connection', opened, request))
      })
    },
    /** Announces an order's new status. */
    announce(order: StandInOrder, fill: LastFill | undefined): void {
      const account = accounts.find(({ orders }) => orders.get(order.clientOrderId) === order)
      if (account === undefined || UNTOLD.has(order.status)) return
      const event = eventOf(order.status)
      const isFill = fill !== undefined && (event === 'fill' || event === 'partial_fill')
      const held = account.positions.get(order.symbol)?.qty ?? 0n
      const data = {
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
      for (const socket of listening) {
        if (authorized.get(socket) === account) send(socket, { stream: 'trade_updates', data })
      }
    },
    stop(): void {
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
