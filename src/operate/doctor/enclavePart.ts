import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { z } from 'zod'
import { type ActionReport, actionReportSchema } from '../../protocol/actionReport.js'
import { type EnclaveReport, enclaveReportSchema } from '../../protocol/finding.js'
import type { Hex } from '../../protocol/hex.js'
import { type OrderReport, orderReportSchema } from '../../protocol/resolution.js'
import { INSTALLATION } from '../../service/version.js'
import { jsonOf } from '../settings.js'

/** The enclave's part produced no report. */
export class NoReportError extends Error {
  override readonly name = 'NoReportError'
}

const PROGRAM = fileURLToPath(new URL('dist/enclave/doctor/main.js', INSTALLATION))
/** Longer than all of its calls may take in total. */
const TIMEOUT_MS = 300_000

/**
 * Runs the enclave's part as a process of its own. Of this process's environment it gets only the path of the enclave's
 * configuration, like the server's runs. This process never reads that file.
 * @throws NoReportError
 */
export function askEnclave(
  envFile: string,
  { account, money }: { account?: string | undefined; money: boolean },
): Promise<EnclaveReport> {
  const args = [...(account === undefined ? [] : ['--account', account]), ...(money ? ['--money'] : [])]
  return runPart(envFile, args, enclaveReportSchema)
}

/** Has the enclave's part report an order of the ledger, as {@link askEnclave} runs it. @throws NoReportError */
export function askOrder(envFile: string, orderId: Hex): Promise<OrderReport> {
  return runPart(envFile, ['--order', orderId], orderReportSchema)
}

/** Has the enclave's part report corporate actions, as {@link askEnclave} runs it. @throws NoReportError */
export function askActions(envFile: string): Promise<ActionReport> {
  return runPart(envFile, ['--actions'], actionReportSchema)
}

function runPart<T>(envFile: string, args: readonly string[], schema: z.ZodType<T>): Promise<T> {
  const env = { PATH: process.env.PATH, ENCLAVE_ENV_FILE: envFile }
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [PROGRAM, ...args], { env, timeout: TIMEOUT_MS }, (error, stdout, stderr) => {
      try {
        if (error) throw new NoReportError(stderr.trim() || "the enclave's part could not be run")
        resolve(parseReport(stdout, schema))
      } catch (failure) {
        reject(failure)
      }
    })
  })
}

/** Reads a report that the enclave's part wrote on another machine. @throws NoReportError */
export async function readReport<T>(path: string, schema: z.ZodType<T>): Promise<T> {
  const text = await readFile(path, 'utf8').catch(() => {
    throw new NoReportError('the file of --enclave-report cannot be read')
  })
  return parseReport(text, schema)
}

function parseReport<T>(text: string, schema: z.ZodType<T>): T {
  const report = schema.safeParse(jsonOf(text))
  if (report.success) return report.data
  throw new NoReportError("the report of the enclave's part is malformed")
}
