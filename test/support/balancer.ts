import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'

const CHECK_EVERY_MS = 500
/** A server that hangs accepts connections but never answers. */
const CHECK_TIMEOUT_MS = 2_000
const FIRST_SERVER_ERROR = 500
const UNAVAILABLE = 503
const BAD_GATEWAY = 502
/** Hop-by-hop fields apply to one connection (RFC 9110, 7.6.1). */
const HOP_BY_HOP = ['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade']

interface Target {
  readonly url: string
  /** Aborted when the server stops answering; its pending requests then move to another server. */
  up: AbortController
}

/**
 * A load balancer on 127.0.0.1. Each request goes to the next server that answers `/health`, if only with 401, as the enclave's
 * port does; it moves to another if that server is unreachable, hangs or returns 503. It may repeat any request, because every request of this API is
 * idempotent: orders by id, authorizations by digest, rulebooks by version, results by run.
 */
export async function startBalancer(
  port: number,
  urls: readonly string[],
): Promise<{ stop(): Promise<void> }> {
  const agent = new Agent({ keepAlive: true })
  const targets: readonly Target[] = urls.map((url) => ({ url, up: new AbortController() }))
  let turn = 0

  /** All servers, starting with the next one; unhealthy servers come last. */
  function inTurn(): Target[] {
    turn = (turn + 1) % targets.length
    const rotated = [...targets.slice(turn), ...targets.slice(0, turn)]
    const isUp = ({ up }: Target) => !up.signal.aborted
    return [...rotated.filter(isUp), ...rotated.filter((target) => !isUp(target))]
  }

  async function check(target: Target): Promise<void> {
    const answer = fetch(`${target.url}/health`, { signal: AbortSignal.timeout(CHECK_TIMEOUT_MS) })
    const isUp = await answer.then(
      ({ status }) => status < FIRST_SERVER_ERROR,
      () => false,
    )
    if (!isUp) target.up.abort()
    else if (target.up.signal.aborted) target.up = new AbortController()
  }

  /** @throws the system's error if the server gives no answer */
  async function ask(target: Target, incoming: IncomingMessage, body: Buffer, gone: AbortSignal) {
    const headers = { ...incoming.headers }
    if (headers['transfer-encoding'] !== undefined) headers['content-length'] = String(body.length)
    for (const name of HOP_BY_HOP) delete headers[name]
    const from = incoming.socket.remoteAddress ?? ''
    headers['x-forwarded-for'] = [headers['x-forwarded-for'] ?? [], from].flat().join(', ')
    const { up } = target
    // An unhealthy server is tried only if all are unhealthy: it may have recovered since.
    const signal = up.signal.aborted ? gone : AbortSignal.any([up.signal, gone])
    const { hostname, port } = new URL(target.url)
    const { method, url: path } = incoming
    const outgoing = request({ agent, hostname, port, method, path, headers, signal }).end(body)
    const [answer]: IncomingMessage[] = await once(outgoing, 'response')
    if (answer === undefined) throw new Error('no answer')
    return { status: answer.statusCode ?? BAD_GATEWAY, headers: answer.headers, body: await buffer(answer) }
  }

  async function handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    const body = await buffer(incoming)
    let last: Awaited<ReturnType<typeof ask>> | undefined
    for (const target of inTurn()) {
      try {
        last = await ask(target, incoming, body, gone.signal)
        if (last.status !== UNAVAILABLE) break
      } catch {
        if (gone.signal.aborted) return
      }
    }
    if (last === undefined) return void response.writeHead(BAD_GATEWAY).end()
    const headers = { ...last.headers }
    for (const name of HOP_BY_HOP) delete headers[name]
    response.writeHead(last.status, headers).end(last.body)
  }

  const server = createServer((incoming, response) => {
    handle(incoming, response).catch(() => response.destroy())
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const checks = setInterval(() => void Promise.all(targets.map(check)), CHECK_EVERY_MS)
  return {
    async stop() {
      clearInterval(checks)
      server.closeAllConnections()
      await once(server.close(), 'close')
      agent.destroy()
    },
  }
}
