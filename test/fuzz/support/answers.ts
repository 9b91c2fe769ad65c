/** An answer as it came over the wire. */
export interface Answer {
  readonly status: number
  /** By lower-case name. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

/** Takes the bytes of a connection apart into answers. */
export interface AnswerReader {
  push(part: Buffer): void
  /** The next whole answer, when there is one. Interim ones (1xx) are left out. */
  next(isHead: boolean): Answer | undefined
  /** Bytes that are no whole answer yet. */
  rest(): number
}

/** Bytes that are no answer. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError'
}

const END_OF_HEAD = '\r\n\r\n'
const STATUS_LINE = /^HTTP\/1\.1 ([1-5]\d\d) /

/** The server tells the length of every body: one in chunks counts as no answer. */
export function createAnswerReader(): AnswerReader {
  let bytes: Buffer = Buffer.alloc(0)
  function next(isHead: boolean): Answer | undefined {
    const end = bytes.indexOf(END_OF_HEAD)
    if (end === -1) return undefined
    const { status, headers } = parseHead(bytes.toString('latin1', 0, end))
    const from = end + END_OF_HEAD.length
    const to = from + (isHead ? 0 : bodyLength(status, headers))
    if (bytes.length < to) return undefined
    const body = bytes.toString('utf8', from, to)
    bytes = bytes.subarray(to)
    return status < 200 ? next(isHead) : { status, headers, body }
  }
  return {
    push(part) {
      bytes = bytes.length === 0 ? part : Buffer.concat([bytes, part])
    },
    next,
    rest: () => bytes.length,
  }
}

function parseHead(text: string): { status: number; headers: Map<string, string> } {
  const [first = '', ...lines] = text.split('\r\n')
  const status = STATUS_LINE.exec(first)?.[1]
  if (status === undefined) throw new NoAnswerError(`no status line: ${first.slice(0, 80)}`)
  const headers = new Map<string, string>()
  for (const line of lines) {
    const colon = line.indexOf(':')
    if (colon < 1) throw new NoAnswerError(`no header: ${line.slice(0, 80)}`)
    headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim())
  }
  return { status: Number(status), headers }
}

function bodyLength(status: number, headers: ReadonlyMap<string, string>): number {
  if (status < 200 || status === 204 || status === 304) return 0
  const length = headers.get('content-length')
  if (length === undefined || !/^\d+$/.test(length)) throw new NoAnswerError('no length')
  return Number(length)
}
