import { connect } from 'node:net'
import type { Exchange } from './requests.js'

/** An answer as it came over the wire. */
export interface Answer {
  readonly status: number
  /** By lower-case name. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

/** Longer than any answer may take: the server gives a request that stalls two seconds. */
const PATIENCE_MS = 45_000
const STATUS_LINE = /^HTTP\/1\.1 ([1-5]\d\d) /

/**
 * Sends an exchange on a connection of its own, and reads its first answer; undefined where there may be none.
 * @throws with the fault, where the bytes that come back are no such answer
 */
export async function carryOut(port: number, exchange: Exchange): Promise<Answer | undefined> {
  const { bytes, request, ending } = exchange
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  const parts: Buffer[] = []
  const read = (isOver: boolean) => answerIn(Buffer.concat(parts), request?.method === 'HEAD', isOver)
  const closed = new Promise((resolve) => socket.once('close', resolve))
  let fault: unknown
  const failWith = (error: unknown) => {
    fault = error
    socket.destroy()
  }
  socket.on('data', (part) => {
    parts.push(Buffer.from(part))
    try {
      // A client that asked for the end of the connection might lose an answer to a body that the server does not read.
      if (ending === 'answer' && read(false) !== undefined) socket.destroy()
    } catch (error) {
      failWith(error)
    }
  })
  // The close that follows tells.
  socket.on('error', () => undefined)
  socket.setTimeout(PATIENCE_MS, () => failWith(new Error(`no answer in ${PATIENCE_MS} ms`)))
  if (ending === 'leave') socket.write(bytes, () => socket.destroy())
  else if (ending === 'end') socket.end(bytes)
  else socket.write(bytes)
  await closed
  if (fault !== undefined) throw fault
  if (ending === 'leave') return undefined
  const answer = read(true)
  if (answer === undefined && (ending === 'answer' || parts.length > 0)) throw new Error('half an answer')
  return answer
}

/** The first answer of a connection; undefined while it is not whole. One to HEAD has no body (RFC 9110, 9.3.2). */
function answerIn(bytes: Buffer, isHead: boolean, isOver: boolean): Answer | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  if (end === -1) return undefined
  const [first = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n')
  const status = Number(STATUS_LINE.exec(first)?.[1])
  if (Number.isNaN(status)) throw new Error(`no status line: ${first.slice(0, 80)}`)
  const rest = bytes.subarray(end + 4)
  if (status < 200) return answerIn(rest, isHead, isOver)
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':')
      if (colon < 1) throw new Error(`no header: ${line.slice(0, 80)}`)
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const
    }),
  )
  if (isHead || status === 204 || status === 304) return { status, headers, body: '' }
  // Without a length it ends with its connection, as in answers to HTTP/1.0 (RFC 9112, 6.3).
  const length = Number(headers.get('content-length') ?? (isOver ? rest.length : Number.POSITIVE_INFINITY))
  if (rest.length < length) return undefined
  return { status, headers, body: rest.toString('utf8', 0, length) }
}
