import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import * as z from 'zod'
import { jsonOf } from '../../protocol/json.js'
import type { ReportRequest } from '../../protocol/sealedReport.js'
import type { Environment } from '../../service/config.js'
import { baseUrl } from '../../service/configKinds.js'
import { INSTALLATION } from '../../service/version.js'
import { parsedBy } from '../../terminal/arguments.js'
import { usage } from '../../terminal/failure.js'
import { askReport } from '../attest/report.js'
import type { CommonOptions } from '../io.js'

/** The enclave's part produced no report. */
export class NoReportError extends Error {
  override readonly name = 'NoReportError'
}

const PROGRAM = fileURLToPath(new URL('dist/enclave/doctor/main.js', INSTALLATION))
/** Longer than all of its calls may take in total. */
const TIMEOUT_MS = 300_000
const DEFAULT_ENV_FILE = '.env.enclave'

/** Where a command has the enclave's report from; without any of them, from the program that reads the enclave's configuration. */
export interface ReportOptions {
  readonly enclaveReport?: string
  readonly enclaveUrl?: string
  readonly holderKeyFile?: string
}

export function addReportOptions(command: Command): Command {
  return command
    .option(
      '--enclave-report <file>',
      'takes this report instead of reading the configuration of the enclave',
    )
    .option('--enclave-url <url>', 'has the attested enclave there report', parsedBy(baseUrl()))
    .option('--holder-key-file <file>', "with --enclave-url: the first holder's key, mode 0600")
}

/**
 * @param envFile the enclave's configuration, whose path alone is known here
 * @throws NoReportError; of an attested enclave as `askReport` does
 */
export async function reportOf<T>(
  env: Environment,
  options: ReportOptions & Pick<CommonOptions, 'directory'>,
  { request, schema }: { readonly request: ReportRequest; readonly schema: z.core.$ZodType<T> },
  envFile = env.ENCLAVE_ENV_FILE ?? DEFAULT_ENV_FILE,
): Promise<T> {
  const { enclaveReport: file, enclaveUrl, holderKeyFile: keyFile, directory } = options
  if (
    (enclaveUrl === undefined) !== (keyFile === undefined) ||
    (file !== undefined && enclaveUrl !== undefined)
  )
    throw usage('name --enclave-report, or both --enclave-url and --holder-key-file, or none of them')
  if (file !== undefined) return readReport(file, schema)
  if (enclaveUrl === undefined || keyFile === undefined) return runPart(envFile, argumentsOf(request), schema)
  return askReport(env, { enclaveUrl, keyFile, directory }, request, schema)
}

function argumentsOf(request: ReportRequest): string[] {
  if ('actions' in request) return ['--actions']
  if ('order' in request) return ['--order', request.order]
  const { account, money } = request
  return [...(account === undefined ? [] : ['--account', account]), ...(money ? ['--money'] : [])]
}

/**
 * Runs the enclave's part as a process of its own. Of this process's environment it gets only the path of the enclave's
 * configuration, like the server's runs. This process never reads that file.
 * @throws NoReportError
 */
function runPart<T>(envFile: string, args: readonly string[], schema: z.core.$ZodType<T>): Promise<T> {
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
async function readReport<T>(path: string, schema: z.core.$ZodType<T>): Promise<T> {
  const text = await readFile(path, 'utf8').catch(() => {
    throw new NoReportError('the file of --enclave-report cannot be read')
  })
  return parseReport(text, schema)
}

function parseReport<T>(text: string, schema: z.core.$ZodType<T>): T {
  const report = z.safeParse(schema, jsonOf(text))
  if (report.success) return report.data
  throw new NoReportError("the report of the enclave's part is malformed")
}
