/**
 * `npm run doctor`: checks the configurations of server and enclave against chain, contracts, broker and disk. Prints
 * one finding a line, with its remedy. Two processes read the two configurations, so that neither holds the other's
 * secrets.
 */
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { addressSchema } from '../../protocol/address.js'
import { type EnclaveReport, type Finding, fault, unchecked } from '../../protocol/finding.js'
import { loadConfig } from '../../server/config/config.js'
import { requireNode } from '../../service/version.js'
import { compare } from './comparison.js'
import { askEnclave, NoReportError, readReport } from './enclavePart.js'
import { checkServer, type ServerReport } from './serverPart.js'

const USAGE = `Usage: npm run doctor -- [options]

  --part <server|enclave>   only this configuration (default: both, and whether they fit together)
  --enclave-report <file>   compare with a report made where the enclave runs, instead of reading its configuration:
                            node dist/enclave/doctor/main.js > report.json
  --account <address>       prove the enclave's master key with this account's portfolio, not with the latest write
  --money                   hold every portfolio against chain and broker, and name the accounts that disagree
  --json                    one JSON object: {"healthy", "findings": [{"part", "check", "result", "text"}]}
  --help

The server's configuration is the environment and the file of ENV_FILE (.env); the enclave's is the file of
ENCLAVE_ENV_FILE. Nothing is changed, sent or spent.

Exit codes: 0 no fault, 1 at least one, 2 these options are wrong.
`

const EXIT_FAULT = 1
const EXIT_USAGE = 2
const DEFAULT_ENCLAVE_ENV_FILE = '.env.enclave'

type Located = Finding & { readonly part: 'server' | 'enclave' | 'together' }

const optionsSchema = z.strictObject({
  part: z.enum(['server', 'enclave']).optional(),
  'enclave-report': z.string().min(1).optional(),
  account: addressSchema.optional(),
  money: z.boolean(),
  json: z.boolean(),
  help: z.boolean(),
})
type Options = z.output<typeof optionsSchema>

class UsageError extends Error {}

function readOptions(): Options {
  try {
    const { values } = parseArgs({
      options: {
        part: { type: 'string' },
        'enclave-report': { type: 'string' },
        account: { type: 'string' },
        money: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    })
    return optionsSchema.parse(values)
  } catch (error) {
    if (error instanceof z.ZodError) {
      throw new UsageError(
        error.issues.map((issue) => `--${issue.path.join('.')}: ${issue.message}`).join('\n'),
      )
    }
    throw new UsageError(error instanceof Error ? error.message : 'the options are wrong')
  }
}

async function examine(options: Options): Promise<Located[]> {
  const server = options.part === 'enclave' ? null : await checkServer(() => loadConfig())
  const enclave = await examineEnclave(options, server)
  return [
    ...located('server', server?.findings ?? []),
    ...located('enclave', enclave?.findings ?? []),
    ...located('together', server && enclave ? compare(server.facts, enclave.facts) : []),
  ]
}

async function examineEnclave(
  { part, account, money, 'enclave-report': file }: Options,
  server: ServerReport | null,
): Promise<EnclaveReport | null> {
  if (file !== undefined) return reported(() => readReport(file))
  if (part === 'server') return null
  const trigger = server?.facts?.config.enclave.trigger
  if (trigger?.kind === 'http') {
    return unexamined(
      'not examined: it runs elsewhere; create its report there and pass it with --enclave-report',
    )
  }
  const named = trigger?.envFile ?? process.env.ENCLAVE_ENV_FILE
  if (named === undefined && server !== null) {
    return unexamined(
      "not examined: the server's configuration, which names the enclave's file, cannot be read",
    )
  }
  return reported(() => askEnclave(named ?? DEFAULT_ENCLAVE_ENV_FILE, { account, money }))
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

function print(findings: readonly Located[], json: boolean): void {
  const faults = findings.filter(({ result }) => result === 'fault').length
  if (json) {
    console.log(JSON.stringify({ healthy: faults === 0, findings }))
    return
  }
  for (const { part, check, result, text } of findings) {
    console.log(`${result.padEnd(9)}  ${part.padEnd(8)}  ${check.padEnd(15)}  ${text}`)
  }
  const open = findings.filter(({ result }) => result === 'unchecked').length
  const notices = findings.filter(({ result }) => result === 'notice').length
  const rest = `${notices === 0 ? '' : `, ${notices} to note`}${open === 0 ? '' : `, ${open} not checked`}`
  console.log(faults === 0 ? `all is well${rest}` : `faults to mend: ${faults}${rest}`)
}

async function main(): Promise<number> {
  const options = readOptions()
  if (options.help) {
    console.log(USAGE)
    return 0
  }
  const findings = await examine(options)
  print(findings, options.json)
  return findings.some(({ result }) => result === 'fault') ? EXIT_FAULT : 0
}

/** Withholds the text of an unexpected error: it may quote a URL with a key in it. */
function explain(error: unknown): string {
  if (error instanceof UsageError) return `${error.message}\n\n${USAGE}`
  return 'the doctor failed with an unexpected error'
}

requireNode()
try {
  process.exitCode = await main()
} catch (error) {
  console.error(explain(error))
  process.exitCode = error instanceof UsageError ? EXIT_USAGE : EXIT_FAULT
}
