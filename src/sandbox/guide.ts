import { relative } from 'node:path'
import { PEOPLE, type SandboxAccount } from './accounts.js'
import type { Sandbox } from './sandbox.js'

/** The addresses, keys and commands for exploring the sandbox, line by line. */
export function guideOf(sandbox: Sandbox): string[] {
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
    ...(enclaveUrl === undefined ? [] : [`  enclave  ${enclaveUrl}  (its log: ${file}/enclave.log)`]),
    '',
    ...Object.entries(contracts).map(([name, address]) => `  ${name.padEnd(20)} ${address}`),
    '',
    ...accounts.employees.map((account, index) => person(PEOPLE.employees[index] ?? '', 'employee', account)),
    person(PEOPLE.admin, 'admin', accounts.admin),
    person(PEOPLE.newcomer, 'newcomer', accounts.newcomer),
    person(PEOPLE.owner, 'operator', accounts.owner),
    '',
    'Try:',
    `  curl -s ${url}/health`,
    `  curl -s ${url}/market`,
    `  curl -s ${url}/market/clock`,
    `  curl -s ${url}/wallet/${employee}`,
    `  curl -s ${url}/compliance/${employee}`,
    `  curl -s ${url}/enclave-key`,
    `  curl -s ${opsUrl}/readyz`,
    `  curl -s ${opsUrl}/metrics`,
    `  curl -s -d '{"open": false}' ${brokerUrl}/sandbox/clock      # close the market: the enclave asks once a minute`,
    `  curl -s -d '{"open": true}' ${brokerUrl}/sandbox/clock       # and open it: orders start within half a minute`,
    '',
    `Dana's copy of the rulebook, to import on the desk: ${file}/rulebook.json`,
    `The same for scripts: ${file}/sandbox.json, ${file}/.env, ${file}/.env.enclave; the server's log: ${file}/server.log`,
    '',
  ]
}

function person(name: string, part: string, { address, privateKey }: SandboxAccount): string {
  return `  ${`${name}, ${part}`.padEnd(20)} ${address}  ${privateKey}`
}
