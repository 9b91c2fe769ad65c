import type { IncomingHttpHeaders } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { startHttpServer } from '../../support/httpServer.js'

/** A message that came by. */
export interface Passed {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** Null when its answer was lost, or there was none. */
  status: number | null
}

/** Stands between two programs, keeps what they post, and loses answers. */
export interface Wire {
  readonly url: string
  /** Oldest first. */
  readonly passed: readonly Passed[]
  /** Requests that came earlier wait until now. */
  forwardTo(url: string): void
  /** The next ones, to such a path, get there, but the answers to them do not come back. */
  loseAnswers(count: number, pathEnd?: string): void
  stop(): Promise<void>
}

export async function startWire(): Promise<Wire> {
  const passed: Passed[] = []
  let toLose = 0
  let lossy = ''
  let forwardTo: (url: string) => void = () => undefined
  const target = new Promise<string>((resolve) => {
    forwardTo = resolve
  })
  const server = await startHttpServer((req, res) => {
    void (async () => {
      // The enclave's look whether the relay answers is no message.
      if (req.method === 'GET') {
        const { authorization = '' } = req.headers
        const answer = await fetch(`${await target}${req.url}`, { headers: { authorization } })
        return res.writeHead(answer.status).end(await answer.text())
      }
      const message: Passed = {
        path: req.url ?? '',
        headers: req.headers,
        body: (await buffer(req)).toString('utf8'),
        status: null,
      }
      passed.push(message)
      const isLost = toLose > 0 && message.path.endsWith(lossy)
      if (isLost) toLose--
      const answer = await post(`${await target}${message.path}`, message)
      if (isLost) return res.destroy()
      message.status = answer.status
      res.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
    })().catch(() => res.destroy())
  })
  return {
    ...server,
    passed,
    forwardTo,
    loseAnswers(count, pathEnd = '') {
      toLose = count
      lossy = pathEnd
    },
  }
}

/** Posts a message as it was. */
export function post(url: string, { headers, body }: Pick<Passed, 'headers' | 'body'>): Promise<Response> {
  const kept = Object.entries(headers).filter(
    ([name]) => ['content-type', 'authorization'].includes(name) || name.startsWith('webhook-'),
  )
  return fetch(url, {
    method: 'POST',
    headers: kept.map(([name, value]): [string, string] => [name, String(value)]),
    body,
  })
}
