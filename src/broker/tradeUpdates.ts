import * as z from 'zod'
import { asOne, type BrokerOrder, storedOrderSchema } from './order.js'

/** Time for connection, authentication and listening together. */
const HANDSHAKE_MS = 10_000
/** After this long without a message the client asks for one, and gives up on the connection without it. */
const QUIET_MS = 10_000
const ANSWER_MS = 5_000
/** Bounds of the backoff; a connection that lasted for the longer one counts as a success. */
const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 30_000

/** Alpaca's own limit. Ids are remembered, so that a longer one would cost memory. */
const MAX_ID_CHARS = 128

/** They end no order and fill none. */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set([
  'new',
  'accepted',
  'pending_new',
  'pending_cancel',
  'pending_replace',
  'order_cancel_rejected',
  'order_replace_rejected',
])

const LISTEN = { action: 'listen', data: { streams: ['trade_updates'] } }

const messageSchema = z.discriminatedUnion('stream', [
  z.object({ stream: z.literal('authorization'), data: z.object({ status: z.string() }) }),
  z.object({ stream: z.literal('listening'), data: z.object({ streams: z.array(z.string()) }) }),
  z.object({
    stream: z.literal('trade_updates'),
    data: z.object({
      event: z.string(),
      order: z.looseObject({
        client_order_id: z.string().max(MAX_ID_CHARS),
        replaces: z.string().nullish(),
      }),
    }),
  }),
])

/** Alpaca's `trade_updates` stream. Events get lost, repeated and reordered, so only what lasts may be used of what one tells: a whole fill. */
export function createTradeUpdates(deps: {
  /** `wss://paper-api.alpaca.markets/stream` or the live one. */
  readonly url: string
  readonly keyId: string
  readonly secretKey: string
  /**
   * Something happened to the order of this `client_order_id`; undefined: perhaps to any, because events may have been lost.
   * @param told the order as the event has it, where it can be read
   */
  readonly onUpdate: (clientOrderId?: string, told?: BrokerOrder) => void
}) {
  let socket: WebSocket | undefined
  let liveSince: number | undefined
  let failures = 0
  let timer: NodeJS.Timeout | undefined
  let state: 'idle' | 'running' | 'closed' = 'idle'

  function after(ms: number, act: () => void): void {
    clearTimeout(timer)
    timer = setTimeout(act, ms)
    timer.unref()
  }

  function connect(): void {
    const opened = new WebSocket(deps.url)
    opened.binaryType = 'arraybuffer'
    socket = opened
    after(HANDSHAKE_MS, () => lost(opened))
    opened.addEventListener('open', () => {
      send(opened, { action: 'auth', key: deps.keyId, secret: deps.secretKey })
    })
    opened.addEventListener('message', ({ data }) => hear(opened, data))
    opened.addEventListener('error', () => lost(opened))
    opened.addEventListener('close', () => lost(opened))
  }

  function hear(from: WebSocket, data: unknown): void {
    if (from !== socket) return
    if (liveSince !== undefined) awaitNext(from)
    const message = messageOf(data)
    if (message === undefined) return
    if (message.stream === 'authorization') {
      if (message.data.status === 'authorized') send(from, LISTEN)
      else lost(from)
    } else if (message.stream === 'listening') {
      if (!message.data.streams.includes('trade_updates')) lost(from)
      else if (liveSince === undefined) {
        liveSince = performance.now()
        awaitNext(from)
        deps.onUpdate()
      }
    } else if (!WITHOUT_EFFECT.has(message.data.event)) {
      const { order } = message.data
      const told = storedOrderSchema.safeParse(order).data
      // One that continues another is followed under that one's id.
      if (order.replaces != null) deps.onUpdate()
      else deps.onUpdate(order.client_order_id, told && asOne(told, []))
    }
  }

  /** Every listen message is acknowledged, which distinguishes silence from a quiet market. */
  function awaitNext(from: WebSocket): void {
    after(QUIET_MS, () => {
      send(from, LISTEN)
      after(ANSWER_MS, () => lost(from))
    })
  }

  function lost(from: WebSocket): void {
    if (from !== socket || state !== 'running') return
    socket = undefined
    const hasLasted = liveSince !== undefined && performance.now() - liveSince >= LONGEST_PAUSE_MS
    liveSince = undefined
    failures = hasLasted ? 0 : failures + 1
    from.close()
    const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1))
    // Jitter: clients that one outage has cut off do not come back together.
    after(longest * (0.5 + Math.random() / 2), connect)
  }

  return {
    /** Connects, and again whenever the connection is lost. Repeated calls have no effect. */
    start(): void {
      if (state !== 'idle') return
      state = 'running'
      connect()
    },
    /** Whether events arrive. Some may get lost all the same. */
    isLive: () => liveSince !== undefined,
    close(): void {
      state = 'closed'
      clearTimeout(timer)
      liveSince = undefined
      socket?.close()
      socket = undefined
    },
  }
}

/** The stream belongs to the trading API. */
export function streamUrlOf(tradingUrl: string): string {
  return `${tradingUrl.replace(/\/+$/, '').replace(/^http/, 'ws')}/stream`
}

function send(socket: WebSocket, message: object): void {
  if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message))
}

/** Paper accounts get binary frames, live ones text; undefined for a message of another kind. */
function messageOf(data: unknown): z.output<typeof messageSchema> | undefined {
  const text = data instanceof ArrayBuffer ? new TextDecoder().decode(data) : data
  if (typeof text !== 'string') return undefined
  try {
    return messageSchema.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}
