// `npm run sandbox`: starts every part on this machine and places one sealed order.
import { join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { integer } from '../service/configKinds.js'
import { requireNode } from '../service/version.js'
import { parsedBy } from '../terminal/arguments.js'
import { CommandError, type Failure } from '../terminal/failure.js'
import { createProgram } from '../terminal/program.js'
import { peopleOf } from './accounts.js'
import { runDemo } from './demo.js'
import { type Sandbox, startSandbox } from './sandbox.js'
import { ROOT, type SandboxOptions } from './settings.js'

type Options = Record<'port' | 'rpcPort' | 'brokerPort' | 'enclavePort' | 'deskPort', number> &
  Pick<SandboxOptions, 'directory'> & { once?: true; desk: boolean; fileKeys?: true }

const aPort = parsedBy(integer(0, 65_535))

/** The addresses, keys and commands for exploring the sandbox, line by line. */
function guideOf(sandbox: Sandbox): string[] {
  const { info, directory } = sandbox
  const { url, opsUrl, rpcUrl, brokerUrl, enclaveUrl, deskUrl, contracts, accounts } = info
  const employee = accounts.employees[0]?.address ?? ''
  const file = relative(process.cwd(), directory) || '.'
  return [
    '',
    'The sandbox keeps running; Ctrl-C ends it. Never use its keys anywhere else.',
    '',
    ...(deskUrl === undefined ? [] : [`  desk     ${deskUrl}  (open it and trade)`]),
    `  server   ${url}`,
    `  operator ${opsUrl}`,
    `  chain    ${rpcUrl}  (chain id ${info.chainId})`,
    `  broker   ${brokerUrl}`,
    `  enclave  ${enclaveUrl}  (its log: ${file}/enclave.log)`,
    '',
    ...Object.entries(contracts).map(([name, address]) => `  ${name.padEnd(20)} ${address}`),
    '',
    ...peopleOf(accounts).map(({ name, part, address, privateKey }) => {
      const [role] = part.split(/\W/)
      return `  ${`${name}, ${role}`.padEnd(20)} ${address}  ${privateKey}`
    }),
    '',
    'Try:',
    ...[
      'health',
      'market',
      'market/clock',
      `wallet/${employee}`,
      `compliance/${employee}`,
      'enclave-key',
    ].map((path) => `  curl -s ${url}/${path}`),
    ...['readyz', 'metrics'].map((path) => `  curl -s ${opsUrl}/${path}`),
    `  curl -s -d '{"open": false}' ${brokerUrl}/sandbox/clock      # close the market: the enclave asks once a minute`,
    `  curl -s -d '{"open": true}' ${brokerUrl}/sandbox/clock       # and open it: orders start within half a minute`,
    '',
    `Dana's copy of the rulebook, to import on the desk: ${file}/rulebook.json`,
    `The same for scripts: ${file}/sandbox.json, ${file}/.env, ${file}/.env.enclave; the server's log: ${file}/server.log`,
    '',
  ]
}

/** Starts every part and places the order; unless `once`, runs until the interruption. Rejects if that comes earlier. */
async function run(options: Options, interruption: AbortSignal): Promise<void> {
  const startedAt = performance.now()
  const print = (line: string) => {
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1)
    console.log(`${`${seconds} s`.padStart(7)}  ${line}`)
  }
  const interrupted = new Promise<void>((resolve) => interruption.addEventListener('abort', () => resolve()))
  const { port: server, rpcPort: rpc, brokerPort: broker, enclavePort: enclave, deskPort } = options
  const sandbox = await startSandbox({
    directory: options.directory,
    ports: { server, rpc, broker, enclave, ...(options.desk && { desk: deskPort }) },
    walkIntervalMs: 2_000,
    keys: options.fileKeys ? 'files' : 'born',
    print,
  })
  try {
    await Promise.race([runDemo(sandbox, print), interrupted])
    interruption.throwIfAborted()
    if (options.once) return
    console.log(guideOf(sandbox).join('\n'))
    await interrupted
  } finally {
    print('stopping')
    await sandbox.stop()
  }
}

requireNode()
const interruption = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interruption.abort())
const program = createProgram('sandbox', process.argv.slice(2), { out: process.stdout, err: process.stderr })
program.root
  .name('npm run sandbox --')
  .description('Starts every part of the platform on this machine, and places one sealed order.')
  .option('--once', 'ends after the first order has settled: exit code 0 when the portfolio is right')
  .option('--port <number>', "the server's port", aPort, 8_000)
  .option('--rpc-port <number>', "the local chain's port", aPort, 8_545)
  .option('--broker-port <number>', "the broker stand-in's port", aPort, 8_600)
  .option('--enclave-port <number>', "the enclave's port", aPort, 8_700)
  .option('--desk-port <number>', 'the port of the page to trade on', aPort, 5_173)
  .option(
    '--file-keys',
    "the enclave's keys are in files, and not born in it on a stand-in of attested hardware",
  )
  .option('--no-desk', 'does not serve that page: a page of your own has port 5173')
  .option(
    '--directory <path>',
    "where the configuration and the server's data go",
    join(ROOT, 'data/sandbox'),
  )
  .action((options: Options) =>
    run(options, interruption.signal).catch(async (error: unknown) => {
      // Ctrl-C ends the chain and the server too, so later failures are its consequence. Word of one may come before it, on a busy machine.
      await sleep(100)
      throw interruption.signal.aborted ? new CommandError('interrupted', 'interrupted') : error
    }),
  )
const report = (failure: Failure, error: unknown) => {
  if (failure.code === 'interrupted') return
  program.terminal.failure(failure)
  if (failure.code === 'unexpected' && error instanceof Error) console.error(error.stack)
}
// Exits explicitly, so that pending operations of an interrupted demo end too.
process.exit(await program.run(undefined, report))
