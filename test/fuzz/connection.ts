import { once } from 'node:events'
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
 * Sends an exchange on a connection of its own, and reads until each request has its answer, or the server ends the connection.
 * @throws with the fault, where the bytes that come back are not such answers
 */
export async function carryOut(port: number, { pieces, requests, ending }: Exchange): Promise<Answer[]> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  const read = () => answersIn(Buffer.concat(parts), (index) => requests[index]?.method === 'HEAD')
  const parts: Buffer[] = []
  let fault: unknown
  const failWith = (error: unknown) => {
    fault = error
    socket.destroy()
  }
  socket.on('data', (part) => {
    parts.push(Buffer.from(part))
    try {
      // A client that asked for the end of the connection might lose an answer to a body that the server does not read.
      if (ending === 'answer' && read().answers.length >= requests.length) socket.destroy()
    } catch (error) {
      failWith(error)
    }
  })
  // The close that follows tells.
  socket.on('error', () => undefined)
  socket.setTimeout(PATIENCE_MS, () => failWith(new Error(`no answer in ${PATIENCE_MS} ms`)))
  const closed = new Promise((resolve) => socket.once('close', resolve))
  await once(socket, 'connect')
  for (const piece of pieces) {
    if (socket.writable) socket.write(piece)
    await new Promise((resolve) => setImmediate(resolve))
  }
  if (ending === 'leave') await new Promise((resolve) => socket.write('', resolve))
  if (ending === 'leave') socket.destroy()
  if (ending === 'end') socket.end()
  await closed
  if (fault !== undefined) throw fault
  if (ending === 'leave') return []
  const { answers, isHalf } = read()
  if (isHalf) throw new Error('half an answer')
  if (ending !== 'answer') return answers
  // The server may hang up early when it says so.
  const isLast = answers.at(-1)?.headers.get('connection') === 'close'
  if (!isLast && answers.length < requests.length) throw new Error('hung up without an answer')
  if (answers.length > requests.length) throw new Error('more answers than requests')
  return answers
}

/** Takes the bytes of a connection apart. An answer to HEAD has no body, and may leave out the length that GET tells (RFC 9110, 9.3.2). */
function answersIn(bytes: Buffer, isHead: (index: number) => boolean) {
  const answers: Answer[] = []
  for (let from = 0; from < bytes.length; ) {
    const end = bytes.indexOf('\r\n\r\n', from)
    if (end === -1) return { answers, isHalf: true }
    const [first = '', ...lines] = bytes.toString('latin1', from, end).split('\r\n')
    const status = Number(STATUS_LINE.exec(first)?.[1])
    if (Number.isNaN(status)) throw new Error(`no status line: ${first.slice(0, 80)}`)
    const headers = new Map(
      lines.map((line) => {
        const colon = line.indexOf(':')
        if (colon < 1) throw new Error(`no header: ${line.slice(0, 80)}`)
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const
      }),
    )
    const hasBody = status >= 200 && status !== 204 && status !== 304 && !isHead(answers.length)
    const to = hasBody ? end + 4 + lengthOf(headers, bytes.length - end - 4) : end + 4
    if (bytes.length < to) return { answers, isHalf: true }
    if (status >= 200) answers.push({ status, headers, body: bytes.toString('utf8', end + 4, to) })
    from = to
  }
  return { answers, isHalf: false }
}

/** The length of a body; without one it ends with its connection, as in answers to HTTP/1.0 (RFC 9112, 6.3). */
function lengthOf(headers: Answer['headers'], left: number): number {
  const length = headers.get('content-length')
  if (length === undefined && headers.get('connection') === 'close') return left
  if (length === undefined || !/^\d+$/.test(length)) throw new Error('no length')
  return Number(length)
}
