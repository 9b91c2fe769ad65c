import { readdir, readFile } from 'node:fs/promises'
import { expect } from 'vitest'
import { z } from 'zod'
import { signAuthorization, signedAuthorizationSchema } from '../../../src/protocol/authorization.js'
import { nameToBytes32 } from '../../../src/protocol/identifiers.js'
import type { Sandbox } from '../../../src/sandbox/sandbox.js'
import { INSTITUTION } from '../../../src/sandbox/settings.js'
import { grantedOrder, portfolioUpdate } from '../../support/authorizations.js'
import { eventually } from '../../support/eventually.js'
import { allProcesses } from '../../support/processes.js'
import { type FailingRequest, problemAt } from './problems.js'

/** The process of the sandbox's chain. */
export async function chainPid({ info }: Sandbox): Promise<number> {
  const { port } = new URL(info.rpcUrl)
  const chain = (await allProcesses()).find(
    ({ arguments: command }) => command[0]?.includes('anvil') && command.includes(port),
  )
  if (!chain) throw new Error('the chain does not run')
  return chain.pid
}

/** The state of a thread, after its name in brackets (proc(5)): `T` for one that a signal has stopped. */
const THREAD_STATE = /^.*\) (\w)/s

/**
 * Stops a process, and resolves once all its threads stand still. The kernel tells one of them, and the others run until that one has had
 * its turn: on a busy machine a chain answers for some 60 ms more.
 */
export async function suspend(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP')
  await eventually('the process stands still', async () => {
    const threads = await readdir(`/proc/${pid}/task`)
    const stats = await Promise.all(
      threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/stat`, 'latin1')),
    )
    return stats.every((stat) => THREAD_STATE.exec(stat)?.[1] === 'T')
  })
}

/** Requests that cannot be answered without the chain. */
function chainRequests({ info, accounts, secrets }: Sandbox): FailingRequest[] {
  const [{ address }] = accounts.employees
  const org = nameToBytes32(INSTITUTION)
  const reads = ['wallet', 'compliance']
    .map((route) => `/${route}/${address}`)
    .concat([`/org/${org}`, `/policy/${org}`])
    .concat(['', '/timeline'].map((page) => `/orders/0x${'01'.repeat(32)}${page}`))
  const domain = { chainId: info.chainId, verifyingContract: info.contracts.confidentialLedger }
  const update = portfolioUpdate(grantedOrder(address))
  const signed = signAuthorization(update, domain, secrets.enclavePrivateKey)
  const authorization = `Bearer ${secrets.relayAuthToken}`
  return [
    ...reads.map((path) => ({ method: 'GET', path })),
    {
      method: 'POST',
      path: '/relay',
      headers: { 'content-type': 'application/json', authorization },
      body: JSON.stringify(z.encode(signedAuthorizationSchema, signed)),
    },
  ]
}

/** Every route that needs the chain is 503 with Retry-After, and those at `others` answer as ever. */
export async function expectNoChain(sandbox: Sandbox, others: readonly string[]): Promise<void> {
  const { url } = sandbox.info
  const problems = await Promise.all(chainRequests(sandbox).map((request) => problemAt(url, request)))
  for (const problem of problems) expect(problem).toMatchObject({ status: 503, code: 'chain-unavailable' })
  for (const path of others) expect((await fetch(url + path)).status, path).toBe(200)
}

/** Every route that needs the broker is 503 with Retry-After. */
export async function expectNoBroker({ info: { url } }: Sandbox): Promise<void> {
  for (const path of ['/market', '/market/clock']) {
    const problem = await problemAt(url, { method: 'GET', path })
    expect(problem).toMatchObject({ status: 503, code: 'market-unavailable' })
  }
}
