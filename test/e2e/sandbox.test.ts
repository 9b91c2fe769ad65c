// The command that a newcomer types, as a process of its own.
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'dotenv'
import { expect, it } from 'vitest'
import * as z from 'zod'
import { addressSchema } from '../../src/protocol/address.js'
import { contractsSchema } from '../../src/protocol/api.js'
import { bytes32Schema } from '../../src/protocol/hex.js'
import { rulebookCopySchema } from '../../src/protocol/rulebookCopy.js'
import { built } from '../support/built.js'
import { eventually } from '../support/eventually.js'
import { startProgram } from '../support/program.js'
import { ENCLAVE_KEYS, expectNothingLeft, interrupt, startSandbox } from './support/sandboxProgram.js'

const account = z.strictObject({ address: addressSchema, privateKey: bytes32Schema })
const url = z.string().regex(/^http:\/\/127\.0\.0\.1:\d+$/)
const sandboxFile = z.strictObject({
  ...{ url, opsUrl: url, relayUrl: url, rpcUrl: url, brokerUrl: url, enclaveUrl: url },
  deskUrl: z.string().regex(/^http:\/\/localhost:\d+$/),
  chainId: z.int(),
  contracts: z.strictObject({ ...contractsSchema.shape, usdc: addressSchema }),
  symbols: z.array(z.string()).length(5),
  accounts: z.strictObject({
    ...{ owner: account, admin: account, newcomer: account },
    employees: z.array(account).length(3),
  }),
})

it('npm run sandbox -- --once says each step with its time, exits 0, and leaves what scripts need', async () => {
  const sandbox = await startSandbox(['--once'])
  expect(await sandbox.exit, sandbox.err()).toBe(0)
  expect(sandbox.err()).toBe('')
  const lines = sandbox.out().trimEnd().split('\n')
  for (const line of lines) expect(line).toMatch(/^ *\d+\.\d s {2,}\S/)
  const steps = lines.flatMap((line) => /^ *\d+\.\d s {2}(\w+) {2}/.exec(line)?.[1] ?? [])
  expect(steps.filter((step, index) => step !== steps[index - 1])).toEqual([
    ...['chain', 'broker', 'contracts', 'institution', 'employees', 'settings', 'enclave'],
    ...['server', 'keys', 'desk', 'rulebook', 'employee', 'order', 'status', 'portfolio', 'done'],
  ])
  expect(sandbox.out()).toMatch(/ s {4}│ .*\[ledger\] rulebook updated +version 1/)
  await expectNothingLeft(sandbox)

  const read = (name: string) => readFile(join(sandbox.directory, name), 'utf8')
  const file = sandboxFile.parse(JSON.parse(await read('sandbox.json')))
  const [server, enclave] = [parse(await read('.env')), parse(await read('.env.enclave'))]
  expect(server).toMatchObject({
    FRONTEND_ORIGIN: file.deskUrl,
    RPC_URL: file.rpcUrl,
    ORDER_ESCROW_ADDRESS: file.contracts.orderEscrow,
    ALPACA_DATA_URL: file.brokerUrl,
  })
  for (const name of ENCLAVE_KEYS) expect([server, enclave].some((env) => name in env)).toBe(false)
  expect(enclave).not.toHaveProperty('RELAYER_PRIVATE_KEY')
  expect(enclave).not.toHaveProperty('ALPACA_KEY_ID')
  expect(enclave.RELAY_AUTH_TOKEN).toBe(server.RELAY_AUTH_TOKEN)
  const copy = rulebookCopySchema.parse(JSON.parse(await read('rulebook.json')))
  expect(copy).toMatchObject({ version: 1, escrow: file.contracts.orderEscrow })
  const files = 'sandbox.json rulebook.json holder.key .env .env.enclave server.log enclave.log'.split(' ')
  for (const name of files) expect((await stat(join(sandbox.directory, name))).mode & 0o777, name).toBe(0o600)
})

it('Ctrl-C when it is up ends everything, exit 0; until then all of it answers, and operate watch follows it', async () => {
  const sandbox = await startSandbox()
  await eventually('the guide', () => sandbox.out().includes('Ctrl-C ends it'))
  const file = sandboxFile.parse(JSON.parse(await readFile(join(sandbox.directory, 'sandbox.json'), 'utf8')))
  const { employees, newcomer } = file.accounts
  for (const { privateKey } of [...employees, newcomer]) expect(sandbox.out()).toContain(privateKey)
  const commands = [...sandbox.out().matchAll(/^ +curl -s (?:-d '([^']*)' )?(\S+)/gm)]
  expect(commands.length).toBeGreaterThan(5)
  for (const [, body, url = ''] of commands) {
    const response = await fetch(url, body === undefined ? {} : { method: 'POST', body })
    expect(response.ok, url).toBe(true)
  }
  const watching = ['watch', '--from', '0', '--directory', sandbox.directory]
  const watch = startProgram(built('operate/main.js'), watching, { env: { RPC_URL: file.rpcUrl } })
  await eventually('an event', () => watch.out().includes('admitted true'))
  watch.child.kill('SIGINT')
  expect(await watch.exit, watch.err()).toBe(0)
  interrupt(sandbox)
  expect(await sandbox.exit).toBe(0)
  await expectNothingLeft(sandbox)
  for (const url of [file.url, file.deskUrl, file.opsUrl, file.rpcUrl, file.brokerUrl])
    await expect(fetch(url)).rejects.toThrow()
})
