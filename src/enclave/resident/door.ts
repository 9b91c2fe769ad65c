import { isUtf8 } from 'node:buffer'
import { randomUUID } from 'node:crypto'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http'
import type { Duplex } from 'node:stream'
import * as z from 'zod'
import { addressSchema } from '../../protocol/address.js'
import { enclaveModeSchema } from '../../protocol/attestation.js'
import { MAX_POLICY_BYTES } from '../../protocol/envelopeForm.js'
import type { Hex } from '../../protocol/hex.js'
import { type EnclaveBoot, jobAcceptedSchema, jobSchema } from '../../protocol/job.js'
import { jsonOf } from '../../protocol/json.js'
import { claimedRunMessage, isRunMessageSigned } from '../../protocol/runMessage.js'
import { hostFault } from '../../service/hostField.js'
import { describeError, type Logger } from '../../service/logger.js'
import { withTimeout } from '../../service/waiting.js'
import type { ResidentRuns } from './runs.js'

/** Codes of docs/errors.md that the door answers. */
const PROBLEMS = {
  'malformed-request': {
    status: 400,
    title: 'Malformed HTTP request',
    detail: 'Send a well-formed HTTP/1.1 request.',
  },
  'invalid-body': {
    status: 400,
    title: 'Invalid body',
    detail: 'Send what the route takes, such as one job.',
  },
  'run-unauthorized': {
    status: 401,
    title: 'Run message not signed',
    detail: 'Sign the exact body with the shared secret, for this run, and send it at once.',
  },
  'provision-unsigned': {
    status: 401,
    title: 'Provision not signed',
    detail: "Fetch this start's evidence, seal to its key, and sign that as its holder.",
  },
  'unknown-holder': {
    status: 403,
    title: 'Not of this holder',
    detail: 'Be a holder of the configuration; the first one alone gives the keys of the broker.',
  },
  'not-found': { status: 404, title: 'No such route', detail: 'Use a route of docs/enclave.md.' },
  'method-not-allowed': {
    status: 405,
    title: 'Method not allowed',
    detail: 'Use one of the methods in the Allow header.',
  },
  'request-timeout': {
    status: 408,
    title: 'Request took too long to arrive',
    detail: 'Send headers and body without pauses.',
  },
  'order-under-way': {
    status: 409,
    title: 'Another run of the order under way',
    detail: 'Wait until that run has ended, 30 s after its stopAt at the latest, and offer a new one.',
  },
  'order-not-overdue': {
    status: 409,
    title: 'Order not overdue',
    detail: 'A run may still end it. Ask a day after its deadline, if it is open then.',
  },
  'keys-present': {
    status: 409,
    title: 'Keys present',
    detail: 'The enclave has its keys: ask for its evidence instead.',
  },
  'body-too-large': { status: 413, title: 'Body too large', detail: 'Send a body below the limit.' },
  'run-too-late': {
    status: 422,
    title: 'Job past its time',
    detail: 'Offer a new run; compare the clocks when this keeps happening.',
  },
  'invalid-share': {
    status: 422,
    title: 'Share not readable',
    detail: "Seal what the founding gave you to the key in this start's evidence, for this chain and escrow.",
  },
  'wrong-account': {
    status: 422,
    title: 'Keys of another account',
    detail: "Give the broker's keys of the account that ALPACA_ACCOUNT_ID names, as its first holder.",
  },
  busy: {
    status: 429,
    title: 'Another such request under way',
    detail: 'Ask again after the seconds in Retry-After.',
  },
  'too-many-runs': {
    status: 429,
    title: 'Too many runs',
    detail: 'Offer the job again after the seconds in Retry-After.',
  },
  'headers-too-large': {
    status: 431,
    title: 'Header fields too large',
    detail: 'Send fewer or shorter header fields.',
  },
  'keys-awaited': {
    status: 503,
    title: 'Keys awaited',
    detail: 'Nothing was accepted. Holders of shares have to provision the enclave first.',
  },
  'evidence-unavailable': {
    status: 503,
    title: 'Evidence unavailable',
    detail: 'Device, chain or collateral is missing. Try again after the seconds in Retry-After.',
  },
  'report-unavailable': {
    status: 503,
    title: 'Report unavailable',
    detail: 'Chain or broker did not answer in time. Try again after the seconds in Retry-After.',
  },
  'broker-unavailable': {
    status: 503,
    title: 'Broker unavailable',
    detail:
      'Nothing was accepted: nobody can tell whose the keys are. Try again after the seconds in Retry-After.',
  },
  'storage-unavailable': {
    status: 503,
    title: 'Storage unavailable',
    detail: 'Nothing was accepted. Try again after the seconds in Retry-After.',
  },
} as const
export type DoorCode = keyof typeof PROBLEMS

/** Further header fields of an answer. */
const HEADERS: Partial<Record<DoorCode, Record<string, string>>> = {
  'run-unauthorized': { 'WWW-Authenticate': 'Webhook realm="runs"' },
  'body-too-large': { Connection: 'close' },
  'request-timeout': { Connection: 'close' },
  'too-many-runs': { 'Retry-After': '1' },
  busy: { 'Retry-After': '1' },
  'keys-awaited': { 'Retry-After': '5' },
  'evidence-unavailable': { 'Retry-After': '5' },
  'broker-unavailable': { 'Retry-After': '5' },
  'report-unavailable': { 'Retry-After': '10' },
  'storage-unavailable': { 'Retry-After': '10' },
}

/** `GET /health`: this process, and what it has under way. */
export const healthSchema = z.object({
  status: z.literal('ok'),
  instance: z.string(),
  boot: z.int(),
  pid: z.int(),
  /** SHA-256 of the program's file. */
  program: z.string(),
  /** When it read its configuration, in Unix milliseconds. */
  configuredAt: z.int(),
  /** Whether its keys were born in it, or are those of files. */
  mode: enclaveModeSchema,
  /** Jobs are refused while they are awaited. */
  keys: z.enum(['awaited', 'present']),
  /** Whose signatures it gives, once it has its keys. */
  signer: z.optional(addressSchema),
  runs: z.int(),
  /** Runs that had not ended 30 s after their `stopAt`. */
  abandoned: z.int(),
})

/** The identity of this process. */
export interface Program {
  readonly program: string
  readonly configuredAt: number
  readonly mode: z.output<typeof enclaveModeSchema>
  /** Undefined until it has its keys. */
  readonly signer: () => Hex | undefined
}

/** What a further route reads of a request. */
export interface DoorRequest {
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  /** The body of a POST. */
  readonly text: string
}
/** Answers the body of a 200, or the code of a problem. What it throws becomes `storage-unavailable`. */
type DoorAnswer = (request: DoorRequest) => Promise<object | DoorCode>
/** Further routes, by path and method. Their bodies have `MAX_ROUTE_BYTES` at most. */
export type Routes = Readonly<Record<string, Readonly<Partial<Record<'GET' | 'POST', DoorAnswer>>>>>

/** The largest rulebook in hex, and the rest of its job. */
const MAX_JOB_BYTES = 2 * MAX_POLICY_BYTES + 16_384
const MAX_ROUTE_BYTES = 16_384
/** Time that a body may take to arrive once its headers have. */
export const BODY_TIMEOUT_MS = 10_000

/** The enclave's routes: `POST /` for signed jobs, `GET /health` for probes, and further ones. Does not listen yet. */
export function createDoor(options: {
  readonly secret: string
  readonly runs: Pick<ResidentRuns, 'accept' | 'counts' | 'awaitsKeys'>
  readonly boot: EnclaveBoot
  readonly program: Program
  readonly routes?: Routes
  readonly logger: Logger
}): Server {
  const { secret, runs, boot, program, routes = {}, logger } = options
  async function accept(req: IncomingMessage, res: ServerResponse): Promise<void> {
    // A stranger's body is not read.
    const claimed = claimedRunMessage('job', req.headers)
    if (claimed === undefined) return refuse(res, 'run-unauthorized')
    const body = await bodyOf(req, MAX_JOB_BYTES)
    if (typeof body === 'string') return refuse(res, body)
    // The signature is one of a text.
    const text = isUtf8(body) ? body.toString('utf8') : undefined
    if (text === undefined || !isRunMessageSigned(secret, claimed, text))
      return refuse(res, 'run-unauthorized')
    const { data: job } = jobSchema.safeParse(jsonOf(text))
    if (job === undefined) return refuse(res, 'invalid-body')
    const { runId } = job
    if (runId !== claimed.runId) return refuse(res, 'run-unauthorized')
    const result = await runs.accept(job).catch((error: unknown) => {
      logger.error('job not recorded', { runId, ...describeError(error) })
      return 'storage-unavailable' as const
    })
    if (result !== 'accepted' && result !== 'already-accepted') return refuse(res, result)
    send(res, prepared(202, z.encode(jobAcceptedSchema, { runId, result, ...boot })))
  }

  function health(res: ServerResponse): void {
    const keys = runs.awaitsKeys() ? 'awaited' : 'present'
    const own = { ...program, keys, signer: program.signer() }
    send(res, prepared(200, { status: 'ok', ...boot, pid: process.pid, ...own, ...runs.counts() }))
  }

  async function further(answer: DoorAnswer, req: IncomingMessage, res: ServerResponse): Promise<void> {
    const body = await bodyOf(req, MAX_ROUTE_BYTES)
    if (typeof body === 'string') return refuse(res, body)
    const [, query = ''] = (req.url ?? '').split('?', 2)
    const text = body.toString('utf8')
    const answered = await answer({ query: new URLSearchParams(query), headers: req.headers, text })
    if (typeof answered === 'string') refuse(res, answered)
    else send(res, prepared(200, answered))
  }

  async function dispatch(req: IncomingMessage, res: ServerResponse): Promise<void> {
    if (hostFault(req) !== undefined) return refuse(res, 'malformed-request')
    const [path] = (req.url ?? '').split('?', 1)
    const methods = methodsOf(path)
    if (methods === undefined) return refuse(res, 'not-found')
    const answer = methods[req.method ?? '']
    if (answer === undefined) {
      return refuse(res, 'method-not-allowed', { Allow: Object.keys(methods).join(', ') })
    }
    return answer(req, res)
  }

  type Answer = (req: IncomingMessage, res: ServerResponse) => Promise<void> | void
  function methodsOf(path = ''): Readonly<Record<string, Answer>> | undefined {
    if (path === '/') return { POST: accept }
    if (path === '/health') return { GET: (_, res) => health(res), HEAD: (_, res) => health(res) }
    const route = Object.entries(routes).find(([known]) => known === path)?.[1]
    if (route === undefined) return undefined
    return Object.fromEntries(
      Object.entries(route).map(([method, answer]) => [method, (req, res) => further(answer, req, res)]),
    )
  }

  function answer(req: IncomingMessage, res: ServerResponse): void {
    dispatch(req, res).catch((error: unknown) => {
      // The caller has gone.
      if (req.destroyed && !req.complete) return
      logger.error('request not answered', describeError(error))
      refuse(res, 'storage-unavailable')
    })
  }

  const server = createServer(SETTINGS, answer)
  server.on('clientError', answerClientError)
  // An expectation that is not known may be ignored (RFC 9110, 10.1.1). Node refuses it, without a body.
  server.on('checkExpectation', answer)
  return server
}

const SETTINGS = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 65_000,
  requireHostHeader: false,
}

/** Answers bytes that are no HTTP request: Node makes no response object for them. */
function answerClientError(error: Error, socket: Duplex): void {
  if (!socket.writable) {
    socket.destroy()
    return
  }
  const kind = 'code' in error ? error.code : undefined
  const code =
    kind === 'HPE_HEADER_OVERFLOW'
      ? 'headers-too-large'
      : kind === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? 'request-timeout'
        : 'malformed-request'
  const { status, headers, text } = problemOf(code)
  const fields = Object.entries({
    ...headers,
    Connection: 'close',
    'Content-Length': Buffer.byteLength(text),
  })
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...fields.map(([name, value]) => `${name}: ${value}`),
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${text}`)
}

/** @returns the code of a problem where it is longer than `limit`, or late */
async function bodyOf(req: IncomingMessage, limit: number): Promise<Buffer | DoorCode> {
  return (await withTimeout(readBody(req, limit), BODY_TIMEOUT_MS)) ?? 'request-timeout'
}

async function readBody(req: IncomingMessage, limit: number): Promise<Buffer | DoorCode> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of req) {
    const bytes = Buffer.from(chunk)
    size += bytes.length
    if (size > limit) return 'body-too-large'
    chunks.push(bytes)
  }
  return Buffer.concat(chunks)
}

/** A problem as RFC 9457 has it. */
function problemOf(code: DoorCode) {
  const requestId = randomUUID()
  const { status, title, detail } = PROBLEMS[code]
  const body = { type: `/errors#${code}`, title, status, detail, instance: '', code, requestId }
  return prepared(status, body, requestId, {
    'Content-Type': 'application/problem+json; charset=utf-8',
    ...HEADERS[code],
  })
}

function prepared(
  status: number,
  body: object,
  requestId: string = randomUUID(),
  headers: Record<string, string> = { 'Content-Type': 'application/json; charset=utf-8' },
) {
  const common = {
    'X-Request-Id': requestId,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
  }
  return { status, headers: { ...common, ...headers }, text: JSON.stringify(body) }
}

function refuse(res: ServerResponse, code: DoorCode, headers: Record<string, string> = {}): void {
  const problem = problemOf(code)
  send(res, { ...problem, headers: { ...problem.headers, ...headers } })
}

function send(res: ServerResponse, { status, headers, text }: ReturnType<typeof prepared>): void {
  if (res.headersSent) return
  res.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(text) })
  res.end(text)
}
