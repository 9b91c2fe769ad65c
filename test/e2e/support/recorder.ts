import { once } from 'node:events'
import { type IncomingMessage, request, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { startHttpServer } from '../../support/httpServer.js'
import type { Evidence } from './evidence.js'

export type Recorder = Awaited<ReturnType<typeof startRecorder>>

/** A proxy in front of the server that keeps every answer: status, headers, body. */
export async function startRecorder(evidence: Evidence) {
  const { promise: target, resolve: forwardTo } = Promise.withResolvers<string>()
  const server = await startHttpServer((req, res) => {
    void pass(evidence, target, req, res).catch(() => res.destroy())
  })
  return {
    ...server,
    /** The server's own URL, once it is known. */
    target,
    /** Requests that came earlier wait until now. */
    forwardTo: (serverUrl: string) => forwardTo(serverUrl),
  }
}

async function pass(
  evidence: Evidence,
  target: Promise<string>,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const body = await buffer(req)
  const { method = '', url = '', headers } = req
  const { hostname, port } = new URL(await target)
  const outgoing = request({ hostname, port, path: url, method, headers, agent: false })
  res.once('close', () => outgoing.destroy())
  outgoing.end(body)
  const [answer]: IncomingMessage[] = await once(outgoing, 'response')
  if (answer === undefined) throw new Error('the server did not answer')
  const content = await buffer(answer)
  const { statusCode = 0, statusMessage = '', rawHeaders } = answer
  const head = Buffer.from(`${statusMessage}\n${rawHeaders.join('\n')}\n\n`, 'latin1')
  const kept = Buffer.concat([head, withoutSymbolLists(url, content)])
  evidence.add('response', `${method} ${url} ${statusCode}`, kept)
  res.writeHead(statusCode, rawHeaders)
  res.end(content)
}

/** The routes whose answers list symbols: what is listed is public, and no trade shows in it. */
const LISTS = /^\/(?:health|market|(?:compliance|org)\/0x[0-9a-fA-F]+)(?:\?|$)/

function withoutSymbolLists(path: string, body: Buffer): Buffer {
  if (!LISTS.test(path)) return body
  const text = body.toString('latin1').replace(/"(?:symbols|equities)":\[[^\]]*\]/g, '')
  return Buffer.from(text, 'latin1')
}
