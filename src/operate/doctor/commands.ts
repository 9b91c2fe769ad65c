import { Option } from 'commander'
import {
  type EnclaveReport,
  enclaveReportSchema,
  type Finding,
  fault,
  unchecked,
} from '../../protocol/finding.js'
import type { Hex } from '../../protocol/hex.js'
import { loadConfig } from '../../server/config/config.js'
import type { Environment } from '../../service/config.js'
import { EXIT } from '../../service/exitCodes.js'
import { anAddress } from '../../terminal/arguments.js'
import type { Program } from '../../terminal/program.js'
import type { CommonOptions, OperateProcess } from '../io.js'
import { compare } from './comparison.js'
import { addReportOptions, NoReportError, type ReportOptions, reportOf } from './enclavePart.js'
import { checkServer, type ServerReport } from './serverPart.js'

type Located = Finding & { readonly part: 'server' | 'enclave' | 'together' }

interface Options extends Pick<CommonOptions, 'json' | 'directory'>, ReportOptions {
  readonly part?: 'server' | 'enclave'
  readonly account?: Hex
}

const REPORT = `
Where the enclave runs on another machine, or as another user, make its report there:
  ENCLAVE_ENV_FILE=.env.enclave node_modules/.bin/node dist/enclave/doctor/main.js > report.json
An attested one reports at its door: --enclave-url, with ENCLAVE_TRIGGER_SECRET and the first holder's key.`

/** Adds `doctor` and `invariants`, which change, send and spend nothing. */
export function addDoctorCommands({ root, endWith }: Program, process: OperateProcess): void {
  const examineAs = async (options: Options, money: boolean) => {
    const findings = await examine(process.env, options, money)
    print(process, findings, options.json === true)
    if (findings.some(({ result }) => result === 'fault')) endWith(EXIT.failed)
  }
  const common = (name: string, summary: string) =>
    addReportOptions(root.command(name))
      .description(summary)
      .option('--json', 'one JSON object: {"healthy", "findings": [{"part", "check", "result", "text"}]}')
      .option('--directory <path>', 'with --enclave-url: holds deployment.json', '.')
      .option('--account <address>', 'proves the master key with the portfolio of this account', anAddress)
  common('doctor', 'holds both configurations against nodes, contracts, broker, disk and each other')
    .addOption(new Option('--part <part>', 'only this configuration').choices(['server', 'enclave']))
    .addHelpText('after', REPORT)
    .action((options: Options) => examineAs(options, false))
  common('invariants', 'holds every portfolio against chain and broker, and names the accounts that disagree')
    .addHelpText('after', `${REPORT.replace('main.js', 'main.js --money')}`)
    .action((options: Options) => examineAs({ ...options, part: 'enclave' }, true))
}

async function examine(env: Environment, options: Options, money: boolean): Promise<Located[]> {
  const server = options.part === 'enclave' ? null : await checkServer(() => loadConfig(env))
  const enclave = await examineEnclave(env, options, money, server)
  return [
    ...located('server', server?.findings ?? []),
    ...located('enclave', enclave?.findings ?? []),
    ...located('together', server && enclave ? compare(server.facts, enclave.facts) : []),
  ]
}

async function examineEnclave(
  env: Environment,
  options: Options,
  money: boolean,
  server: ServerReport | null,
): Promise<EnclaveReport | null> {
  const { part, account, enclaveReport, enclaveUrl } = options
  const asked = { request: { ...(account && { account }), money }, schema: enclaveReportSchema }
  if (enclaveReport !== undefined || enclaveUrl !== undefined)
    return reported(() => reportOf(env, options, asked))
  if (part === 'server') return null
  const trigger = server?.facts?.config.enclave.trigger
  if (trigger?.kind === 'http') {
    return unexamined(
      'not examined, because it runs at ENCLAVE_URL: make its report as its user (see --help), and name it with --enclave-report, or an attested one with --enclave-url',
    )
  }
  const named = trigger?.envFile ?? env.ENCLAVE_ENV_FILE
  if (named === undefined && server !== null) {
    return unexamined(
      "not examined: the server's configuration, which names the enclave's file, cannot be read",
    )
  }
  return reported(() => reportOf(env, options, asked, named))
}

function unexamined(text: string): EnclaveReport {
  return { findings: [unchecked('report', text)], facts: null }
}

async function reported(ask: () => Promise<EnclaveReport>): Promise<EnclaveReport> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof NoReportError) return { findings: [fault('report', error.message)], facts: null }
    throw error
  }
}

function located(part: Located['part'], findings: readonly Finding[]): Located[] {
  return findings.map((finding) => ({ part, ...finding }))
}

function print({ out }: OperateProcess, findings: readonly Located[], json: boolean): void {
  const faults = findings.filter(({ result }) => result === 'fault').length
  if (json) {
    out.write(`${JSON.stringify({ healthy: faults === 0, findings })}\n`)
    return
  }
  for (const { part, check, result, text } of findings) {
    out.write(`${`${result.padEnd(9)}  ${part.padEnd(8)}  ${check.padEnd(15)}  ${text}`}\n`)
  }
  const open = findings.filter(({ result }) => result === 'unchecked').length
  const notices = findings.filter(({ result }) => result === 'notice').length
  const rest = `${notices === 0 ? '' : `, ${notices} to note`}${open === 0 ? '' : `, ${open} not checked`}`
  out.write(`${faults === 0 ? `all is well${rest}` : `faults to mend: ${faults}${rest}`}\n`)
}
