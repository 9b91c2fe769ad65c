// Each command that changes a deployed platform, on a real chain: its effect, its refusals, and a second run.
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { ZERO_ADDRESS } from '../../src/protocol/address.js'
import { nameToBytes32 } from '../../src/protocol/identifiers.js'
import { useChain } from '../support/chain.js'
import { operate } from '../support/operate.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'
import { directoryOf, keyOf } from './operateUnderTest.js'

const chain = useChain()
const AAPL = nameToBytes32('AAPL')
const ORG = nameToBytes32('Example Capital')
const resultSchema = z.looseObject({
  command: z.string(),
  changed: z.boolean(),
  transactions: z.array(z.string()),
})
const failureSchema = z.strictObject({
  error: z.object({ code: z.string(), message: z.string(), remedy: z.string().min(5) }),
})

const keys = () => ({
  RPC_URL: chain().anvil.rpcUrl,
  OWNER_PRIVATE_KEY: keyOf(chain(), 'owner'),
  GUARDIAN_PRIVATE_KEY: keyOf(chain(), 'guardian'),
  FUNDER_PRIVATE_KEY: keyOf(chain(), 'alice'),
})

/** Runs with `--yes --json`, as a program does. */
async function run(args: readonly string[], env: Record<string, string> = {}) {
  const directory = await directoryOf(chain())
  const { exit, out, err } = await operate([...args, '--yes', '--json', '--directory', directory], {
    env: { ...keys(), ...env },
  })
  const failure = err.trimEnd().split('\n').at(-1) ?? ''
  return {
    exit,
    err,
    result: exit === 0 ? resultSchema.parse(JSON.parse(out)) : null,
    code: exit === 0 ? null : failureSchema.parse(JSON.parse(failure)).error.code,
  }
}

/** Changes the chain, and finds nothing to do the second time. */
async function changesOnce(args: readonly string[], transactions = 1) {
  const first = await run(args)
  expect(first.err + String(first.code)).not.toContain('error')
  expect(first.result).toMatchObject({ changed: true })
  expect(first.result?.transactions).toHaveLength(transactions)
  const second = await run(args)
  expect(second).toMatchObject({ exit: 0, result: { changed: false, transactions: [] } })
}

describe('operate list, delist, kyc, freeze', () => {
  it('lists several symbols and delists one, and sends only what the chain does not have yet', async () => {
    await changesOnce(['list', 'AAPL', 'BRK.B'], 2)
    expect(await chain().read('token', 'isListed', AAPL)).toBe(true)
    const { result, err } = await run(['list', 'AAPL', 'MSFT'])
    expect(result?.transactions).toHaveLength(1)
    expect(err).toContain('already so: list AAPL')
    expect(err).toContain('will list MSFT')
    expect(err).toContain(`list MSFT: sent ${result?.transactions[0]}`)
    await changesOnce(['delist', 'AAPL'])
    expect(await chain().read('token', 'isListed', AAPL)).toBe(false)
    expect(await chain().read('token', 'isListed', nameToBytes32('BRK.B'))).toBe(true)
  })

  it("records and withdraws KYC, freezes a wallet's holding, and releases it", async () => {
    const [alice, bob] = [chain().account('alice'), chain().account('bob')]
    await changesOnce(['kyc', alice, bob], 2)
    await changesOnce(['kyc', bob, '--revoke'])
    expect(await chain().read('token', 'isKyc', alice)).toBe(true)
    expect(await chain().read('token', 'isKyc', bob)).toBe(false)
    await changesOnce(['freeze', 'AAPL', alice])
    expect(await chain().read('token', 'isFrozen', AAPL, alice)).toBe(true)
    await changesOnce(['freeze', 'AAPL', alice, '--release'])
    expect(await chain().read('token', 'isFrozen', AAPL, alice)).toBe(false)
  })

  it.each([
    ['list', 'NVDA', 'USDC'],
    ['kyc', ZERO_ADDRESS],
    ['owner', ZERO_ADDRESS],
    ['signer'],
    ['freeze', 'AAPL'],
    ['treasury', '1.0000001'],
    ['list'],
  ])('refuses wrong arguments, and sends nothing: %s %s %s', async (...args) => {
    const before = await chain().provider.getBlockNumber()
    expect(await run(args)).toMatchObject({ exit: 2, code: 'usage' })
    expect(await chain().provider.getBlockNumber()).toBe(before)
  })
})

describe('operate admit', () => {
  it('admits a founder, suspends the institution, and admits it again by its name alone', async () => {
    const admin = chain().account('admin')
    await chain().send('admin', 'registry', 'registerInstitution', ORG)
    await changesOnce(['admit', 'Example Capital', admin])
    expect(await chain().read('registry', 'adminOf', ORG)).toBe(admin)
    await changesOnce(['admit', 'Example Capital', '--suspend'])
    expect(await chain().read('registry', 'isAdmitted', ORG)).toBe(false)
    await changesOnce(['admit', 'Example Capital'])
    expect(await chain().read('registry', 'isAdmitted', ORG)).toBe(true)
  })

  it('refuses a wallet that has not founded it, another admin, and a name that no institution has', async () => {
    const [admin, bob] = [chain().account('admin'), chain().account('bob')]
    expect(await run(['admit', 'Example Capital', admin])).toMatchObject({ exit: 1, code: 'not-founded' })
    expect(await run(['admit', 'Example Capital'])).toMatchObject({ exit: 2, code: 'usage' })
    await chain().send('admin', 'registry', 'registerInstitution', ORG)
    await run(['admit', 'Example Capital', admin])
    expect(await run(['admit', 'Example Capital', bob])).toMatchObject({ exit: 1, code: 'institution-taken' })
  })
})

describe('operate fund and treasury', () => {
  const USDC = 1_000_000n

  it('pays USDC into the pool, and moves some to the broker’s address, once more with each run', async () => {
    const [alice, pool, broker] = [
      chain().account('alice'),
      chain().addresses.platformPool,
      chain().account('broker'),
    ]
    await chain().send('alice', 'usdc', 'mint', alice, 500n * USDC)
    const funded = await run(['fund', 'pool', '200.5'])
    expect(funded.result?.transactions).toHaveLength(2)
    expect(await chain().read('usdc', 'balanceOf', pool)).toBe(200_500_000n)
    for (const moved of [50n, 100n]) {
      expect(await run(['treasury', '50'])).toMatchObject({ exit: 0, result: { changed: true } })
      expect(await chain().read('usdc', 'balanceOf', broker)).toBe(moved * USDC)
    }
    expect(await run(['treasury', '1000'])).toMatchObject({ exit: 1, code: 'insufficient-usdc' })
    expect(await run(['fund', 'pool', '1000'])).toMatchObject({ exit: 1, code: 'insufficient-usdc' })
  })

  it('sends ether to an address, without a deployment', async () => {
    const to = '0x00000000000000000000000000000000000000FE'
    const empty = await temporaryDirectory()
    const args = ['fund', 'gas', to, '0.25', '--yes', '--directory', empty]
    expect(await operate(args, { env: keys() })).toMatchObject({ exit: 0, out: 'done: fund gas\n' })
    expect(await chain().provider.getBalance(to)).toBe(250_000_000_000_000_000n)
    expect(await run(['fund', 'gas', 'relayer', '1'])).toMatchObject({ exit: 2, code: 'usage' })
    const poor = { FUNDER_PRIVATE_KEY: `0x${'77'.repeat(32)}` }
    expect(await run(['fund', 'gas', to, '1'], poor)).toMatchObject({ exit: 1, code: 'insufficient-funds' })
    expect(await run(['fund', 'gas', ZERO_ADDRESS, '1'])).toMatchObject({ exit: 2, code: 'usage' })
  })

  it('sends no ether on a chain that is not meant', async () => {
    const to = '0x00000000000000000000000000000000000000FD'
    const args = ['fund', 'gas', to, '0.25', '--yes', '--directory']
    const byVariable = [...args, await temporaryDirectory()]
    const byFile = [...args, await directoryOf(chain(), { chainId: 1 })]
    for (const given of [byVariable, byFile])
      expect(await operate(given, { env: { ...keys(), CHAIN_ID: '1' } })).toMatchObject({
        ...{ exit: 2, err: expect.stringContaining('not of chain 1') },
      })
    expect(await chain().provider.getBalance(to)).toBe(0n)
  })
})

describe('operate pause and revoke', () => {
  it('revokes and pauses as the guardian, and lifts the pause as the owner', async () => {
    const measurement = `0x${'a1'.repeat(32)}`
    await changesOnce(['revoke', measurement])
    expect(await chain().read('authority', 'isRevoked', measurement)).toBe(true)
    await changesOnce(['pause'])
    expect(await chain().read('authority', 'pausedUntil')).toBeGreaterThan(0n)
    await changesOnce(['pause', '--lift'])
    expect(await chain().read('authority', 'pausedUntil')).toBe(0n)
    await changesOnce(['pause'])
    await chain().mineAt(Number(await chain().read('authority', 'pausedUntil')))
    expect(await run(['pause'])).toMatchObject({ exit: 1, code: 'pause-too-early' })
  })
})

describe('operate signer, owner, guardian', () => {
  it('hand their roles over, where rotations take effect at once', async () => {
    const [bob, carol, dave] = [chain().account('bob'), chain().account('carol'), chain().account('dave')]
    await changesOnce(['signer', bob])
    expect(await chain().read('authority', 'enclaveSigner')).toBe(bob)
    await changesOnce(['guardian', carol])
    expect(await chain().read('authority', 'guardian')).toBe(carol)
    expect(await run(['owner', dave])).toMatchObject({ exit: 0, result: { changed: true } })
    expect(await chain().read('authority', 'owner')).toBe(dave)
    expect(await run(['list', 'AAPL'])).toMatchObject({ exit: 1, code: 'not-owner' })
    expect(await run(['list', 'AAPL'], { OWNER_PRIVATE_KEY: keyOf(chain(), 'dave') })).toMatchObject({
      exit: 0,
    })
  })
})

describe('every command', () => {
  it('asks before it sends, and takes no for an answer', async () => {
    const directory = await directoryOf(chain())
    const args = ['list', 'AAPL', '--directory', directory]
    const declined = await operate(args, { env: keys(), answer: 'n' })
    expect(declined).toMatchObject({ exit: 3, out: '' })
    expect(declined.err).toContain('will list AAPL')
    expect(declined.err).toContain(`Send 1 transaction on chain 31337 as owner ${chain().account('owner')}?`)
    expect(await chain().read('token', 'isListed', AAPL)).toBe(false)
    expect(await operate(args, { env: keys(), answer: 'y' })).toMatchObject({ exit: 0, out: 'done: list\n' })
    expect(await chain().read('token', 'isListed', AAPL)).toBe(true)
  })

  it('does nothing where there is no terminal to ask on', async () => {
    const { exit, err } = await operate(['list', 'AAPL', '--directory', await directoryOf(chain())], {
      env: keys(),
    })
    expect(exit).toBe(2)
    expect(err).toContain('(confirmation-needed)\n  give --yes')
    expect(await chain().read('token', 'isListed', AAPL)).toBe(false)
  })

  it('refuses a key of another role before it sends anything, and names both addresses', async () => {
    const { exit, code, err } = await run(['list', 'AAPL'], { OWNER_PRIVATE_KEY: keyOf(chain(), 'alice') })
    expect({ exit, code }).toEqual({ exit: 1, code: 'not-owner' })
    expect(err).toContain(chain().account('alice'))
    expect(err).not.toContain(keyOf(chain(), 'alice').slice(2))
    const pause = await run(['pause'], { GUARDIAN_PRIVATE_KEY: keyOf(chain(), 'owner') })
    expect(pause).toMatchObject({ exit: 1, code: 'not-guardian' })
  })

  it('takes the key from a file of mode 0600 alone', async () => {
    const directory = await temporaryDirectory()
    const file = join(directory, 'owner')
    await writeFile(file, `${keyOf(chain(), 'owner')}\n`, { mode: 0o600 })
    const env = { OWNER_PRIVATE_KEY: '', OWNER_PRIVATE_KEY_FILE: file }
    expect(await run(['list', 'AAPL'], env)).toMatchObject({ exit: 0 })
    await chmod(file, 0o644)
    expect(await run(['list', 'AAPL'], env)).toMatchObject({ exit: 2, code: 'settings' })
    expect(await run(['list', 'AAPL'], { OWNER_PRIVATE_KEY: '' })).toMatchObject({
      exit: 2,
      code: 'settings',
    })
    const both = { ...env, OWNER_PRIVATE_KEY: keyOf(chain(), 'owner') }
    expect(await run(['list', 'AAPL'], both)).toMatchObject({ exit: 2, code: 'settings' })
    expect(await readFile(file, 'utf8')).toContain('0x')
  })

  it('refuses a node of another chain, and one that does not answer', async () => {
    const directory = await directoryOf(chain(), { chainId: 1 })
    const other = await operate(['list', 'AAPL', '--yes', '--directory', directory], { env: keys() })
    expect(other.exit).toBe(2)
    expect(other.err).toContain('RPC_URL: is a node of chain 31337, not of chain 1')
    expect(await run(['list', 'AAPL'], { RPC_URL: 'http://127.0.0.1:1' })).toMatchObject({
      exit: 5,
      code: 'node-unavailable',
    })
  })

  it('goes on by the next node of RPC_URL where the first does not answer', async () => {
    const RPC_URL = `http://127.0.0.1:1,${chain().anvil.rpcUrl}`
    expect(await run(['list', 'AAPL'], { RPC_URL })).toMatchObject({ exit: 0, result: { changed: true } })
  })

  it('names a missing or malformed deployment.json', async () => {
    const args = (directory: string) => ['list', 'AAPL', '--yes', '--directory', directory]
    const empty = await operate(args(await temporaryDirectory()), { env: keys() })
    expect(empty).toMatchObject({ exit: 2, err: expect.stringContaining('(deployment-missing)') })
    const wrong = await operate(args(await directoryOf(chain(), { usdc: '0x1' })), { env: keys() })
    expect(wrong).toMatchObject({ exit: 2, err: expect.stringContaining('(deployment-malformed)') })
  })
})
