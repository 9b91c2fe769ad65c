// A machine of dstack as a program in it finds it: the agent at a socket, by its specification (docs/guest-api-v0.md of dstack), and Intel's
// service. The processor descends from the vectors' root.
import { createHash, hkdfSync } from 'node:crypto'
import { createServer, type RequestListener } from 'node:http'
import { json } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import * as z from 'zod'
import { certificate } from '../../scripts/attestation/tdx/certificates.js'
import * as made from '../../scripts/attestation/tdx/evidence.js'
import { concatBytes } from '../../src/protocol/hex.js'
import { startHttpServer } from './httpServer.js'
import { temporaryDirectory } from './temporaryDirectory.js'

export interface DstackMachine {
  /** SHA-256 of the hex of its `app-compose.json`, in hex. */
  readonly composeHash?: string
  /** What the event `key-provider` has. */
  readonly keyProvider?: { readonly name: string; readonly id: string }
  /** The secret of its processor, or of its key service. */
  readonly secret?: string
  /** Unix milliseconds at which Intel signs. */
  readonly now: number
  /** What is otherwise with its quotes. */
  readonly fault?: Partial<made.EvidenceParts>
}

/** Intel's service, as a test has it. */
interface Intel {
  isUp: boolean
  /** Unix milliseconds at which it signs. */
  now: number
  /** A part of the URL that something on the way answers in its place, with a page of its own. */
  intercepted?: string | undefined
  /** What is otherwise with what it signs. */
  fault?: Partial<made.EvidenceParts>
}

export const LOCAL_PROVIDER = { name: 'local-sgx', id: 'a1'.repeat(32) }
const DAY_MS = 86_400_000
const MAX_REPORT_DATA = 64
const quoteSchema = z.object({ report_data: z.string().regex(/^(?:0x)?(?:[0-9a-f]{2}){0,64}$/) })
const keySchema = z.object({ path: z.string() })
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const sha256 = (...parts: (Uint8Array | string)[]) =>
  parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest()

/** The root that every such processor descends from, as `createDstack` takes it. */
export async function rootOfProcessors(): Promise<string> {
  return hex(sha256(await certificate('root')))
}

/** What Intel says for 30 days from `now` on, of certificates that are in force then. */
function signedAt(now: number): Partial<made.EvidenceParts> {
  const [from, until] = [now - DAY_MS, now + 29 * DAY_MS]
  const text = (time: number) => new Date(time).toISOString()
  const period = { issueDate: text(from), nextUpdate: text(until) }
  const validity = { notAfter: now + 365 * DAY_MS }
  return {
    ...{ tcbInfo: period, qeIdentity: period, rootCrl: { from, until }, pckCrl: { from, until } },
    certificates: { authority: validity, processor: validity, signer: validity },
  }
}

/** For the length of a test. @returns where agent and Intel are, and what was asked */
export async function startDstack({
  composeHash = made.COMPOSE_HASH,
  keyProvider = LOCAL_PROVIDER,
  secret = 'processor',
  now,
  fault = {},
}: DstackMachine) {
  const provider = new TextEncoder().encode(JSON.stringify(keyProvider))
  const payloads: Readonly<Record<string, Uint8Array>> = {
    'compose-hash': made.bytes(composeHash),
    'key-provider': provider,
  }
  const events = made.EVENTS.map(([name, payload]) => [name, payloads[name] ?? payload] as const)
  const asked: string[] = []
  const intel: Intel = { isUp: true, now }
  const guest = { isUp: true }

  /** A local provider derives it from the registers before its own event; a key service knows the app alone. */
  const rootKey =
    keyProvider.name === 'local-sgx'
      ? sha256(secret, ...Object.values(made.REGISTERS), made.rtmr3(events.slice(0, 5)))
      : sha256(secret, 'app-id')

  async function getQuote(body: unknown) {
    const digits = quoteSchema.parse(body).report_data.replace(/^0x/, '')
    const reportData = made.bytes(digits.padEnd(MAX_REPORT_DATA * 2, '0'))
    const parts = { ...signedAt(now), events, nonce: reportData.slice(32), ...fault }
    const quote = await made.quoteOf(parts, reportData.slice(0, 32))
    const firmware = { imr: 0, event_type: 2_147_483_659, digest: 'ab', event: '', event_payload: '0954' }
    const log = events.map(([event, payload]) => ({
      ...{ imr: 3, event_type: 134_217_729, digest: '', event, event_payload: hex(payload) },
    }))
    return {
      quote: hex(concatBytes(quote, new Uint8Array(100))),
      event_log: JSON.stringify([firmware, ...log]),
      report_data: hex(reportData),
      vm_config: '{}',
    }
  }

  function getKey(body: unknown) {
    const { path } = keySchema.parse(body)
    return { key: hex(new Uint8Array(hkdfSync('sha256', rootKey, 'RATLS', path, 32))), signature_chain: [] }
  }

  const agent = createServer(async (request, response) => {
    const method = `${request.method} ${request.url}`
    asked.push(method)
    if (!guest.isUp) return response.writeHead(503).end()
    try {
      const body = await json(request)
      const answer =
        method === 'POST /GetQuote'
          ? await getQuote(body)
          : method === 'POST /GetKey'
            ? getKey(body)
            : undefined
      response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(answer ?? { error: `Service not found: ${request.url?.slice(1)}` }))
    } catch (error) {
      response.writeHead(400).end(JSON.stringify({ error: String(error) }))
    }
  })
  const socket = `${await temporaryDirectory()}/dstack.sock`
  await new Promise<void>((resolve) => agent.listen(socket, resolve))
  onTestFinished(() => void agent.close().closeAllConnections())

  const service = await startHttpServer(intelAt(intel, asked))
  onTestFinished(service.stop)
  return {
    socket,
    intel,
    /** The agent. */
    guest,
    asked,
    /** As `createDstack` takes it. */
    options: {
      ...{ socket, root: await rootOfProcessors(), now: () => now },
      intel: { service: service.url, certificates: service.url },
    },
  }
}

/** https://api.portal.trustedservices.intel.com/content/documentation.html */
function intelAt(state: Readonly<Intel>, asked: string[]): RequestListener {
  return async (request, response) => {
    asked.push(`${request.method} ${request.url}`)
    const of = await made.collateralOf({ ...signedAt(state.now), ...state.fault })
    const chain = { 'TCB-Info-Issuer-Chain': encodeURIComponent(made.pemOf(of.signer)) }
    const text = (member: string, value: string, signature: Uint8Array) =>
      response.writeHead(200, chain).end(`{"${member}":${value},"signature":"${hex(signature)}"}`)
    if (!state.isUp) return response.writeHead(503).end()
    if (state.intercepted && request.url?.includes(state.intercepted))
      return response.writeHead(200, chain).end('<html>Log in</html>')
    switch (request.url) {
      case '/tdx/certification/v4/tcb?fmspc=a0b1c2d3e4f5':
        return text('tcbInfo', of.tcb_info, of.tcb_info_signature)
      case '/tdx/certification/v4/qe/identity':
        return text('enclaveIdentity', of.qe_identity, of.qe_identity_signature)
      case '/sgx/certification/v4/pckcrl?ca=platform&encoding=der':
        return response.writeHead(200).end(of.pck_crl)
      case '/IntelSGXRootCA.der':
        return response.writeHead(200).end(of.root_crl)
      default:
        return response.writeHead(404).end()
    }
  }
}
