// `operate attest report`: what an attested enclave reports at its door, sealed to the owner.
import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { actionReportSchema } from '../../protocol/actionReport.js'
import { ProtocolError } from '../../protocol/errors.js'
import { enclaveReportSchema } from '../../protocol/finding.js'
import { type Hex, hexToBytes } from '../../protocol/hex.js'
import { orderReportSchema } from '../../protocol/resolution.js'
import { runSecretSchema, signRunMessage } from '../../protocol/runMessage.js'
import { openReport, type ReportRequest, sealedReportSchema } from '../../protocol/sealedReport.js'
import { writeNewFile } from '../../service/privateFile.js'
import { CommandError, usage } from '../../terminal/failure.js'
import { type CommonOptions, createSpeech, type OperateProcess } from '../io.js'
import { parsed, readDeployment } from '../settings.js'
import { readHolderKey } from './holder.js'
import { askEnclave } from './startingEnclave.js'

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

const schemaOf = (request: ReportRequest): z.ZodType =>
  'actions' in request ? actionReportSchema : 'order' in request ? orderReportSchema : enclaveReportSchema

/** @throws RefusedError with the enclave's code; CommandError `enclave-unavailable`, `usage`; ConfigError */
export async function report(process: OperateProcess, options: ReportOptions): Promise<void> {
  const { enclaveUrl, keyFile, out, directory } = options
  const request = requestOf(options)
  const { chainId, contracts } = readDeployment(directory)
  const { privateKey } = readHolderKey(keyFile)
  const { ENCLAVE_TRIGGER_SECRET: secret } = parsed(
    z.object({ ENCLAVE_TRIGGER_SECRET: runSecretSchema }),
    process.env,
  )
  const headers = signRunMessage(secret, {
    ...{ kind: 'report', runId: randomUUID(), body: JSON.stringify(request) },
  })
  const asked = { method: 'POST', body: request, headers: { ...headers }, timeoutMs: TIMEOUT_MS } as const
  const { envelope } = await askEnclave(enclaveUrl, '/report', asked, sealedReportSchema)
  const domain = { chainId, escrow: contracts.orderEscrow }
  const opened = await openReport(envelope, hexToBytes(privateKey.reveal()), domain).catch(unopened)
  if (!schemaOf(request).safeParse(opened).success)
    throw new CommandError('enclave-unavailable', 'the enclave sent another report')
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
