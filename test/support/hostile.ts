// Requests that quote a secret wherever a caller can put one.
import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'

/** A request that the server must refuse, or answer without a word of what it quotes. */
export interface HostileRequest {
  readonly path: string
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly body?: string
}

const JSON_TYPE = { 'content-type': 'application/json' }
const ROUTES = ['orders', 'policy', 'wallet', 'org', 'compliance', 'relay']

/** Every place of a request with the secret in it; `token` is the relay's. */
export function hostileRequests(secret: string, token: string): HostileRequest[] {
  const authorization = `Bearer ${token}`
  const paths = ['', ...ROUTES.map((route) => `${route}/`), 'nothing/', 'health?', 'orders/%ff'].map(
    (start) => `/${start}${encodeURIComponent(secret)}`,
  )
  return [
    ...paths.flatMap((path) => [
      { path, headers: { authorization } },
      { path, method: 'PUT', headers: { ...JSON_TYPE, authorization }, body: secret },
    ]),
    ...['/orders', '/policy', '/relay'].flatMap((path) =>
      hostileBodies(secret).map((body) => ({
        path,
        method: 'POST',
        headers: { ...JSON_TYPE, authorization },
        body,
      })),
    ),
    ...hostileHeaders(secret).flatMap((headers) => [
      { path: '/health', headers },
      { path: '/orders', method: 'POST', headers, body: secret },
      { path: '/relay', method: 'POST', headers, body: secret },
    ]),
  ]
}

function hostileBodies(secret: string): string[] {
  const envelope = { epk: secret, iv: `0x${secret}`, ct: secret, tag: secret }
  const message = { accountId: `0x${secret}`, version: secret, enclaveBlob: secret, [secret]: secret }
  return [
    secret,
    `{"orderId": ${secret}`,
    `{"__proto__": "${secret}"}`,
    `{"${secret}": 1, "${secret}": 2}`,
    ...[
      secret,
      [secret],
      { [secret]: secret },
      envelope,
      { orderId: `0x${secret}`, ...envelope },
      { primaryType: secret, message, signature: secret },
      { primaryType: 'PortfolioUpdate', message, signature: `0x${secret}` },
    ].map((body) => JSON.stringify(body)),
  ]
}

function hostileHeaders(secret: string): Record<string, string>[] {
  return [
    { origin: secret },
    { origin: `https://${secret}.example` },
    { authorization: `Bearer ${secret}` },
    { authorization: secret },
    { 'content-type': secret },
    { ...JSON_TYPE, 'content-encoding': secret },
    { 'if-none-match': `"${secret}"`, cookie: `a=${secret}`, referer: secret, 'user-agent': secret },
    { accept: secret, prefer: `wait=${secret}`, 'x-forwarded-for': secret, forwarded: `for=${secret}` },
    { 'access-control-request-method': secret },
  ]
}

/** Sends them at once and resolves with the statuses of the answers. */
export function sendAll(url: string, requests: readonly HostileRequest[]): Promise<number[]> {
  return Promise.all(
    requests.map(async ({ path, ...init }) => {
      const response = await fetch(url + path, init)
      await response.arrayBuffer()
      return response.status
    }),
  )
}

/** Sends bytes that need be no HTTP at all, and resolves with all that comes back. */
export async function sendRaw(url: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  socket.end(bytes, 'latin1')
  return text(socket)
}
