// What an attested enclave tells its operator at its door, who signs with the secret of jobs: reports, sealed to the owner, and evidence.
import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import { actionReportSchema } from '../../protocol/actionReport.js'
import { type Attestation, attestationSchema } from '../../protocol/attestation.js'
import { ProtocolError } from '../../protocol/errors.js'
import { enclaveReportSchema } from '../../protocol/finding.js'
import { type Hex, hexToBytes } from '../../protocol/hex.js'
import { orderReportSchema } from '../../protocol/resolution.js'
import { runSecretSchema, signRunMessage } from '../../protocol/runMessage.js'
import { openReport, type ReportRequest, sealedReportSchema } from '../../protocol/sealedReport.js'
import type { Environment } from '../../service/config.js'
import { writeNewFile } from '../../service/privateFile.js'
import { CommandError, usage } from '../../terminal/failure.js'
import { type CommonOptions, createSpeech, type OperateProcess } from '../io.js'
import { parsed, readDeployment } from '../settings.js'
import { askEnclave } from './askEnclave.js'
import { readHolderKey } from './holder.js'

export const ABOUT_REPORT = `
The request is signed with ENCLAVE_TRIGGER_SECRET, and the report opens with the first holder's key alone. "doctor", "invariants" (--money),
"actions" and "resolve" (--order) take the file as --enclave-report.`

export interface ReportOptions extends CommonOptions {
  readonly enclaveUrl: string
  readonly keyFile: string
  readonly out: string
  readonly account?: Hex
  readonly money?: true
  readonly actions?: true
  readonly order?: Hex
}

/** Longer than the enclave's own limit. */
const TIMEOUT_MS = 150_000

const schemaOf = (request: ReportRequest): z.core.$ZodType =>
  'actions' in request ? actionReportSchema : 'order' in request ? orderReportSchema : enclaveReportSchema

/** @throws RefusedError with the enclave's code; CommandError `enclave-unavailable`, `usage`; ConfigError */
export async function report(process: OperateProcess, options: ReportOptions): Promise<void> {
  const { enclaveUrl, keyFile, out, directory } = options
  const request = requestOf(options)
  const opened = await openedReport(process.env, { enclaveUrl, keyFile, directory }, request)
  if (!z.safeParse(schemaOf(request), opened).success) throw otherReport()
  writeNewFile(out, `${JSON.stringify(opened)}\n`)
  const result = { command: 'attest report', changed: true, file: out }
  createSpeech(process, options).result([`${out}: name it with --enclave-report`], result)
}

function requestOf({ account, money, actions, order }: ReportOptions): ReportRequest {
  const isCheckup = account !== undefined || money !== undefined
  if ([isCheckup, actions !== undefined, order !== undefined].filter(Boolean).length > 1)
    throw usage('one report at a time: --actions, or --order, or --money and --account')
  if (actions) return { actions }
  if (order !== undefined) return { order }
  return { ...(account && { account }), ...(money && { money }) }
}

function unopened(error: unknown): never {
  if (!(error instanceof ProtocolError)) throw error
  throw usage("the report does not open with this key: it is sealed to the first holder's")
}

/** An attested enclave, the first holder's key, and where deployment.json is. */
interface ReportSource {
  readonly enclaveUrl: string
  readonly keyFile: string
  readonly directory: string
}

/** @throws RefusedError with the enclave's code; CommandError `enclave-unavailable`, `usage`; ConfigError */
export async function askReport<T>(
  env: Environment,
  source: ReportSource,
  request: ReportRequest,
  schema: z.core.$ZodType<T>,
): Promise<T> {
  const { data } = z.safeParse(schema, await openedReport(env, source, request))
  if (data === undefined) throw otherReport()
  return data
}

async function openedReport(
  env: Environment,
  { enclaveUrl, keyFile, directory }: ReportSource,
  request: ReportRequest,
): Promise<unknown> {
  const { chainId, contracts } = readDeployment(directory)
  const { privateKey } = readHolderKey(keyFile)
  const headers = signedBy(env, 'report', JSON.stringify(request))
  const asked = { method: 'POST', body: request, headers, timeoutMs: TIMEOUT_MS } as const
  const { envelope } = await askEnclave(enclaveUrl, '/report', asked, sealedReportSchema)
  const domain = { chainId, escrow: contracts.orderEscrow }
  return openReport(envelope, hexToBytes(privateKey.reveal()), domain).catch(unopened)
}

/**
 * Fresh evidence of the enclave's keys, which has these 32 bytes. Only the enclave itself has it before its signer is the chain's or the next.
 * @throws RefusedError with the enclave's code; CommandError `enclave-unavailable`; ConfigError
 */
export function askEvidence(env: Environment, enclaveUrl: string, nonce: Hex): Promise<Attestation> {
  const digits = nonce.slice(2)
  const headers = signedBy(env, 'challenge', digits)
  return askEnclave(enclaveUrl, `/attestation?nonce=${digits}`, { method: 'GET', headers }, attestationSchema)
}

/** @throws ConfigError */
function signedBy(env: Environment, kind: 'report' | 'challenge', body: string): Record<string, string> {
  const schema = z.object({ ENCLAVE_TRIGGER_SECRET: runSecretSchema })
  const { ENCLAVE_TRIGGER_SECRET: secret } = parsed(schema, env)
  return { ...signRunMessage(secret, { kind, runId: randomUUID(), body }) }
}

const otherReport = () => new CommandError('enclave-unavailable', 'the enclave sent another report')
