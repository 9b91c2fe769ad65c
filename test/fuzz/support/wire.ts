/** A request before it is bytes. */
export interface WireRequest {
  readonly method: string
  /** The request line's second part, as it is. */
  readonly target: string
  readonly headers: readonly Header[]
  readonly body: Buffer | undefined
}

export type Header = readonly [name: string, value: string]

/** The bytes of a request with its true length. */
export function render({ method, target, headers, body }: WireRequest): Buffer {
  const length: Header[] = body === undefined ? [] : [['Content-Length', `${body.length}`]]
  const lines = [...headers, ...length].map(([name, value]) => `${name}: ${value}\r\n`)
  const head = Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1')
  return body === undefined ? head : Buffer.concat([head, body])
}

/** The same headers with one set, or left out. */
export function withHeader(request: WireRequest, name: string, value: string | undefined): WireRequest {
  const others = request.headers.filter(([other]) => other.toLowerCase() !== name.toLowerCase())
  return { ...request, headers: value === undefined ? others : [...others, [name, value]] }
}

export function headerOf({ headers }: WireRequest, name: string): string | undefined {
  return headers.find(([other]) => other.toLowerCase() === name.toLowerCase())?.[1]
}
