import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'

const CHECK_EVERY_MS = 500
/** A server that hangs takes connections and answers nothing. */
const CHECK_TIMEOUT_MS = 2_000
const UNAVAILABLE = 503
const BAD_GATEWAY = 502
/** They concern one connection (RFC 9110, 7.6.1). */
const HOP_BY_HOP = ['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade']

interface Target {
  readonly url: string
  /** Aborted when it no longer answers: requests that wait for it go to another one. */
  up: AbortController
}

/**
 * A load balancer on 127.0.0.1: each request goes to the next server that answers `/health`, and on to another one where that
 * server cannot be reached, hangs or says 503. It may repeat every request, as this API makes each idempotent: orders by their
 * id, authorizations by their digest, rulebooks by their version, results by their run.
 */
export async function startBalancer(
  port: number,
  urls: readonly string[],
): Promise<{ stop(): Promise<void> }> {
  const agent = new Agent({ keepAlive: true })
  const targets: readonly Target[] = urls.map((url) => ({ url, up: new AbortController() }))
  let turn = 0

  /** All of them, beginning with the next one; those that do not answer come last. */
  function inTurn(): Target[] {
    turn = (turn + 1) % targets.length
    const rotated = [...targets.slice(turn), ...targets.slice(0, turn)]
    const isUp = ({ up }: Target) => !up.signal.aborted
    return [...rotated.filter(isUp), ...rotated.filter((target) => !isUp(target))]
  }

  async function check(target: Target): Promise<void> {
    const answer = fetch(`${target.url}/health`, { signal: AbortSignal.timeout(CHECK_TIMEOUT_MS) })
    const isUp = await answer.then(
      ({ ok }) => ok,
      () => false,
    )
    if (!isUp) target.up.abort()
    else if (target.up.signal.aborted) target.up = new AbortController()
  }

  /** @throws the system's error where the server gives no answer */
  async function ask(target: Target, incoming: IncomingMessage, body: Buffer, gone: AbortSignal) {
    const headers = { ...incoming.headers }
    if (headers['transfer-encoding'] !== undefined) headers['content-length'] = String(body.length)
    for (const name of HOP_BY_HOP) delete headers[name]
    const from = incoming.socket.remoteAddress ?? ''
    headers['x-forwarded-for'] = [headers['x-forwarded-for'] ?? [], from].flat().join(', ')
    const { up } = target
    // One that is down is asked only where all are: it may have come back since.
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
