import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AlpacaCall } from './alpacaRoutes.js'
import type { Faults } from './faults.js'
import type { AccountRateLimit } from './rateLimit.js'
import { refusal, UNAUTHORIZED } from './refusal.js'
import type { RequestLog } from './requestLog.js'
import type { Reply, StandInAccount } from './types.js'

const MAX_BODY_BYTES = 64 * 1024
const FROM_A_PAGE: Reply = { status: 403, body: { message: 'browser pages may not control the stand-in' } }

interface StandInServerDeps {
  readonly accounts: readonly StandInAccount[]
  readonly alpaca: (call: AlpacaCall) => Reply
  readonly control: (call: { method: string; path: string; body: unknown }) => Reply
  readonly faults: Faults
  readonly rateLimit: AccountRateLimit
  readonly requestLog: RequestLog
  readonly now: () => Date
}

/** The stand-in's HTTP side: bodies, keys, the rate limit, faults and the request log. */
export function createStandInServer(deps: StandInServerDeps): Server {
  return createServer((request, response) => {
    serve(deps, request, response).catch((error: unknown) => {
      // Reports a defect of the stand-in to the client; ignores a client that hung up.
      if (!request.socket.destroyed) write(response, { status: 500, body: { message: String(error) } })
    })
  })
}

async function serve(
  deps: StandInServerDeps,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://stand-in')
  const method = request.method ?? 'GET'
  const steers = url.pathname.startsWith('/sandbox/')
  // Browsers send `Origin`. The control routes need no keys, so they refuse requests from pages.
  if (steers && request.headers.origin !== undefined) return write(response, FROM_A_PAGE)
  const body = await readJson(request)
  if (steers) return write(response, deps.control({ method, path: url.pathname, body: body.value }))
  const account = accountBehind(deps.accounts, request)
  const reply = await answer(deps, { method, url, body, account })
  deps.requestLog.add({
    at: deps.now().toISOString(),
    account: account?.name ?? null,
    method,
    url: `${url.pathname}${url.search}`,
    body: body.value,
    outcome: reply?.status ?? 'dropped',
  })
  // Uses the stand-in's own clock, which tests set: clients compute the limit's reset from `Date`.
  const headers = { date: deps.now().toUTCString(), ...reply?.headers }
  if (reply) write(response, { ...reply, headers })
  else request.socket.resetAndDestroy()
}

interface Incoming {
  readonly method: string
  readonly url: URL
  readonly body: { readonly ok: boolean; readonly value: unknown }
  readonly account: StandInAccount | undefined
}

/** The answer, or undefined if a fault cuts the connection. */
async function answer(deps: StandInServerDeps, incoming: Incoming): Promise<Reply | undefined> {
  const { method, url, account } = incoming
  const fault = deps.faults.strike({ method, path: url.pathname, account: account?.name ?? null })
  if (fault?.delayMs) await sleep(fault.delayMs)
  if (fault?.drop === 'before') return undefined
  if (fault?.respond) return fault.respond
  const reply = handle(deps, incoming)
  return fault?.drop === 'after' ? undefined : reply
}

function handle(deps: StandInServerDeps, { method, url, body, account }: Incoming): Reply {
  if (!account) return UNAUTHORIZED
  const { headers, refused } = deps.rateLimit.count(
    account.name,
    url.pathname.startsWith('/v2/stocks/') ? 'data' : 'trading',
  )
  if (refused) return { ...refused, headers }
  if (!body.ok) return { ...refusal(400, 40010000, 'request body format is invalid'), headers }
  const reply = deps.alpaca({
    method,
    path: url.pathname,
    query: url.searchParams,
    body: body.value,
    account,
  })
  return { ...reply, headers }
}

function accountBehind(
  accounts: readonly StandInAccount[],
  request: IncomingMessage,
): StandInAccount | undefined {
  return accounts.find(
    ({ keyId, secretKey }) =>
      request.headers['apca-api-key-id'] === keyId && request.headers['apca-api-secret-key'] === secretKey,
  )
}

async function readJson(request: IncomingMessage): Promise<{ ok: boolean; value: unknown }> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk)
    size += bytes.length
    if (size > MAX_BODY_BYTES) return { ok: false, value: undefined }
    chunks.push(bytes)
  }
  if (size === 0) return { ok: true, value: undefined }
  try {
    return { ok: true, value: JSON.parse(Buffer.concat(chunks).toString('utf8')) }
  } catch {
    return { ok: false, value: undefined }
  }
}

function write(response: ServerResponse, reply: Reply): void {
  const text = reply.body === undefined ? '' : JSON.stringify(reply.body)
  response.writeHead(reply.status, {
    ...(text !== '' && { 'content-type': 'application/json; charset=UTF-8' }),
    ...reply.headers,
  })
  response.end(text)
}
