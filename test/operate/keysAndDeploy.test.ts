// `keys` and `deploy`, on a real chain: the files, their modes, what a second run does, and every refusal.
import { chmod, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'dotenv'
import { Contract, computeAddress, Wallet } from 'ethers'
import { describe, expect, it } from 'vitest'
import { authorityAbi } from '../../src/chain/generated/authorityAbi.js'
import { loadConfig as loadEnclaveConfig } from '../../src/enclave/config.js'
import { deploymentSchema } from '../../src/operate/settings.js'
import { ZERO_ADDRESS } from '../../src/protocol/address.js'
import { deskSettingsSchema } from '../../src/protocol/deskSettings.js'
import { hexToBytes } from '../../src/protocol/hex.js'
import { publicKeyOf } from '../../src/protocol/publicKey.js'
import { loadConfig } from '../../src/server/config/config.js'
import { useChain } from '../support/chain.js'
import { operate } from '../support/operate.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'
import { deployOn, deploySettings, withKeys } from './operateUnderTest.js'

const chain = useChain()

const read = (directory: string, path: string) => readFile(join(directory, path), 'utf8')
const secret = async (directory: string, path: string) => (await read(directory, `secrets/${path}`)).trim()

const ROLE = `0x${'12'.repeat(20)}`
const [TOKEN, KEY] = ['secrets/server/relay-auth-token', 'secrets/enclave/intent-private-key']

const settings = () => deploySettings(chain())
const deploy = (directory: string, env: Record<string, string> = {}) => deployOn(chain(), directory, env)

describe('operate keys', () => {
  it('makes every secret in a file of mode 0600, and prints public values that belong to them', async () => {
    const directory = await temporaryDirectory()
    const { exit, out, err } = await operate(['keys', '--operator', '--yes', '--directory', directory])
    expect(exit).toBe(0)
    const files = [
      ...['ledger-master-key', 'intent-private-key', 'enclave-private-key', 'relay-auth-token'].map(
        (name) => `enclave/${name}`,
      ),
      ...['enclave/enclave-trigger-secret', 'server/relayer-private-key', 'server/relay-auth-token'],
      'server/enclave-trigger-secret',
      ...['deployer', 'owner', 'guardian'].map((role) => `operator/${role}-private-key`),
    ]
    const secrets = await Promise.all(files.map((file) => secret(directory, file)))
    for (const file of files)
      expect((await stat(join(directory, 'secrets', file))).mode & 0o777, file).toBe(0o600)
    for (const value of secrets) expect(out + err).not.toContain(value)
    expect(new Set(secrets).size).toBe(files.length - 2)
    const values = parse(out)
    expect(values.INTENT_PUBKEY).toBe(publicKeyOf(hexToBytes(`0x${secrets[1]?.slice(2)}`)))
    expect(values.ENCLAVE_SIGNER).toBe(computeAddress(secrets[2] ?? ''))
    expect(values.RELAYER_ADDRESS).toBe(computeAddress(await secret(directory, 'server/relayer-private-key')))
    expect(values.OWNER_ADDRESS).toBe(computeAddress(await secret(directory, 'operator/owner-private-key')))
    expect(await secret(directory, 'server/relay-auth-token')).toBe(
      await secret(directory, 'enclave/relay-auth-token'),
    )
    expect(err).toContain(`to fill: ${join(directory, 'secrets/enclave/alpaca-key-id')}`)
  })

  it('keeps what exists, and makes what is missing: a token as its other holder has it', async () => {
    const directory = await withKeys()
    const token = await secret(directory, 'server/relay-auth-token')
    const first = await read(directory, 'secrets/public.env')
    await rm(join(directory, 'secrets/enclave/relay-auth-token'))
    const args = ['keys', '--operator', '--directory', directory]
    const second = await operate([...args, '--json', '--yes'])
    expect(JSON.parse(second.out)).toMatchObject({
      changed: true,
      made: [join(directory, 'secrets/enclave/relay-auth-token')],
    })
    expect(await secret(directory, 'enclave/relay-auth-token')).toBe(token)
    expect(await read(directory, 'secrets/public.env')).toBe(first)
    expect(await operate(args), 'no question where nothing is made').toMatchObject({ exit: 0, out: first })
  })

  it.each<[string, (directory: string) => Promise<void>]>([
    ['secret-shared', (directory) => chmod(join(directory, TOKEN), 0o640)],
    ['secrets-differ', (directory) => writeFile(join(directory, TOKEN), 'x'.repeat(32))],
    ['secret-malformed', (directory) => writeFile(join(directory, KEY), '0x12')],
  ])('refuses with %s', async (code, spoil) => {
    const directory = await withKeys()
    await spoil(directory)
    const { exit, err } = await operate(['keys', '--yes', '--directory', directory])
    expect(exit).toBe(2)
    expect(err).toContain(`(${code})`)
  })

  it('makes no other master key for contracts that are deployed', async () => {
    const directory = await withKeys()
    await deploy(directory)
    await rm(join(directory, 'secrets/enclave/ledger-master-key'))
    const { exit, err } = await operate(['keys', '--yes', '--directory', directory])
    expect(exit).toBe(1)
    expect(err).toContain('(already-deployed)')
  })
})

describe('with an attested enclave', () => {
  const HOLDERS = 'a,b,c'

  it('no key of the enclave is in a file, and the contracts have no signer', async () => {
    const directory = await temporaryDirectory()
    await operate(['keys', '--operator', '--attested', '--yes', '--directory', directory])
    expect(await readdir(join(directory, 'secrets/enclave'))).toEqual([
      'enclave-trigger-secret',
      'relay-auth-token',
    ])
    const env = { ...settings(), MASTER_KEY_HOLDERS: HOLDERS, RPC_WITNESS_URL: 'https://witness.example' }
    const args = ['deploy', '--attested', '--yes', '--directory', directory]
    const { exit, err } = await operate(args, { env })
    expect(exit).toBe(0)
    expect(err).toContain('enclave signer not named yet')
    const { authority } = deploymentSchema.parse(JSON.parse(await read(directory, 'deployment.json')))
    const signer = new Contract(authority, authorityAbi, chain().provider).getFunction('enclaveSigner')
    expect(await signer()).toBe(ZERO_ADDRESS)

    const server = parse(await read(directory, '.env'))
    expect(server).not.toHaveProperty('ENCLAVE_SIGNER')
    expect(server).not.toHaveProperty('INTENT_PUBKEY')
    const enclave = parse(await read(directory, '.env.enclave'))
    expect(enclave).toMatchObject({
      MASTER_KEY_HOLDERS: HOLDERS,
      RPC_WITNESS_URL: 'https://witness.example',
      RELAY_AUTH_TOKEN_FILE: join(directory, 'secrets/enclave/relay-auth-token'),
    })
    expect(Object.keys(enclave).filter((name) => name.endsWith('_FILE'))).toEqual([
      'RELAY_AUTH_TOKEN_FILE',
      'ENCLAVE_TRIGGER_SECRET_FILE',
    ])
    await expect(stat(join(directory, 'desk.json'))).rejects.toMatchObject({ code: 'ENOENT' })
    expect(await operate(args, { env })).toMatchObject({ exit: 0, err: expect.not.stringContaining('wrote') })

    const owner = await secret(directory, 'operator/owner-private-key')
    await chain().provider.send('anvil_setBalance', [computeAddress(owner), `0x${(10n ** 18n).toString(16)}`])
    const first = await operate(['signer', ROLE, '--yes', '--directory', directory], {
      env: { RPC_URL: chain().anvil.rpcUrl, OWNER_PRIVATE_KEY: owner },
    })
    expect(first).toMatchObject({
      exit: 0,
      err: expect.stringContaining(`make ${ROLE} the first signer at once`),
    })
    expect(await signer()).toBe(ROLE)
  })

  it('deploy refuses the public values of keys in files', async () => {
    const directory = await withKeys()
    const args = ['deploy', '--attested', '--yes', '--directory', directory]
    const { exit, err } = await operate(args, { env: settings() })
    expect(exit).toBe(2)
    expect(err).toContain('ENCLAVE_SIGNER: is of keys in files')
    expect(err).toContain('INTENT_PUBKEY: is of keys in files')
  })
})

describe('operate deploy', () => {
  it('deploys, and writes configurations that server and enclave take', async () => {
    const directory = await withKeys()
    const { exit, out, err } = await deploy(directory, {
      BROKER_FEES: 'none',
      PORT: '8123',
      RELAY_PORT: '8125',
    })
    expect(err).toContain('will deploy five contracts')
    expect(exit).toBe(0)
    const deployment = deploymentSchema.parse(JSON.parse(await read(directory, 'deployment.json')))
    expect(parse(out).ORDER_ESCROW_ADDRESS).toBe(deployment.contracts.orderEscrow)
    const authority = new Contract(deployment.authority, authorityAbi, chain().provider)
    const values = parse(await read(directory, 'secrets/public.env'))
    expect(await authority.getFunction('owner')()).toBe(values.OWNER_ADDRESS)
    expect(await authority.getFunction('guardian')()).toBe(values.GUARDIAN_ADDRESS)
    expect(await authority.getFunction('enclaveSigner')()).toBe(values.ENCLAVE_SIGNER)
    expect(await authority.getFunction('rotationDelay')()).toBe(172_800n)

    const server = loadConfig({ ENV_FILE: join(directory, '.env') })
    expect(server.chain.contracts).toEqual(deployment.contracts)
    expect(server.enclave.signer).toBe(values.ENCLAVE_SIGNER)
    const enclave = loadEnclaveConfig({ ENCLAVE_ENV_FILE: join(directory, '.env.enclave') })
    expect(server.relay.listen.port).toBe(8125)
    expect(enclave.RELAY_URL).toBe('http://127.0.0.1:8125')
    expect(enclave.ALPACA_KEY_ID).not.toBe('')
    expect(deskSettingsSchema.parse(JSON.parse(await read(directory, 'desk.json')))).toMatchObject({
      serverUrl: 'http://127.0.0.1:8123',
      chain: { id: 31337, firstBlock: deployment.firstBlock },
      pins: { escrow: deployment.contracts.orderEscrow, enclavePublicKey: values.INTENT_PUBKEY },
    })
    expect(deployment.firstBlock).toBeGreaterThan(0)
    for (const name of ['.env', '.env.enclave']) {
      expect((await stat(join(directory, name))).mode & 0o777).toBe(0o600)
      expect(await read(directory, name)).not.toContain(await secret(directory, 'enclave/relay-auth-token'))
    }
  })

  it('deploys nothing again, keeps what was edited, and writes what is missing', async () => {
    const directory = await withKeys()
    const first = await deploy(directory)
    const deployment = await read(directory, 'deployment.json')
    await writeFile(join(directory, '.env'), 'LOG_LEVEL=warn\n')
    const desk = await read(directory, 'desk.json')
    await rm(join(directory, 'desk.json'))
    const block = await chain().provider.getBlockNumber()
    const second = await deploy(directory, { DEPLOYER_PRIVATE_KEY: '' })
    expect(second).toMatchObject({ exit: 0, out: first.out })
    expect(await chain().provider.getBlockNumber()).toBe(block)
    expect(await read(directory, 'deployment.json')).toBe(deployment)
    expect(await read(directory, '.env')).toBe('LOG_LEVEL=warn\n')
    expect(await read(directory, 'desk.json')).toBe(desk)
  })

  it('names every missing or malformed setting at once, and never shows a key', async () => {
    const directory = await temporaryDirectory()
    const env = { RPC_URL: 'nowhere', DEPLOYER_PRIVATE_KEY: '0xc0ffee' }
    const { exit, out, err } = await operate(['deploy', '--yes', '--directory', directory], { env })
    expect({ exit, out }).toEqual({ exit: 2, out: '' })
    for (const name of Object.keys(settings()).filter((each) => each !== 'DEPLOYER_PRIVATE_KEY')) {
      expect(err).toContain(`${name}: `)
    }
    expect(err).toContain('OWNER_ADDRESS: is missing: give its address, or let "keys --operator"')
    expect(err).toContain('INTENT_PUBKEY: is missing: "keys" makes it')
    expect(err).not.toContain('c0ffee')
  })

  it.each<[string, Record<string, string>, string]>([
    ['a chain that is not CHAIN_ID', { CHAIN_ID: '1' }, 'RPC_URL: is a node of chain 31337, not of chain 1'],
    ['a node that others can read', { ENCLAVE_RPC_URL: 'http://node.example' }, 'expected an https URL'],
    ['a rotation at once', { ROTATION_DELAY: '0s' }, 'ROTATION_DELAY: expected a duration from 1h'],
    ['one key for two', { OWNER_ADDRESS: ROLE, GUARDIAN_ADDRESS: ROLE }, 'is OWNER_ADDRESS too'],
    ['the enclave’s signer as USDC', { ENCLAVE_SIGNER: ROLE, USDC_ADDRESS: ROLE }, 'is ENCLAVE_SIGNER too'],
    ['delays out of order', { ROTATION_DELAY: '100h' }, '(invalid-delays)'],
    ['no key', { DEPLOYER_PRIVATE_KEY: '' }, 'DEPLOYER_PRIVATE_KEY_FILE: is missing'],
    ['a USDC that is no contract', { USDC_ADDRESS: Wallet.createRandom().address }, '(usdc-not-a-contract)'],
  ])('refuses %s, and sends nothing', async (_, env, text) => {
    const directory = await withKeys()
    const block = await chain().provider.getBlockNumber()
    const { exit, err } = await deploy(directory, env)
    expect(exit).toBe(2)
    expect(err).toContain(text)
    expect(await chain().provider.getBlockNumber()).toBe(block)
  })

  it('sends nothing when it could not record the deployment', async () => {
    const directory = await withKeys()
    const values = parse(await read(directory, 'secrets/public.env'))
    const block = await chain().provider.getBlockNumber()
    const { exit, err } = await deploy(join(directory, 'nowhere'), values)
    expect(exit).toBe(2)
    expect(err).toContain(`${join(directory, 'nowhere')} cannot be used (ENOENT) (file-unusable)`)
    expect(await chain().provider.getBlockNumber()).toBe(block)
  })

  it('ends with 5 when no node answers, and with 1 when the deployer has no ether', async () => {
    const directory = await withKeys()
    expect(await deploy(directory, { RPC_URL: 'http://127.0.0.1:1' })).toMatchObject({ exit: 5 })
    const poor = await deploy(directory, { DEPLOYER_PRIVATE_KEY: Wallet.createRandom().privateKey })
    expect(poor).toMatchObject({ exit: 1, err: expect.stringContaining('(insufficient-funds)') })
  })

  it('does not take a record of a chain that was started anew for this one', async () => {
    const directory = await withKeys()
    await deploy(directory)
    const { authority } = deploymentSchema.parse(JSON.parse(await read(directory, 'deployment.json')))
    await chain().provider.send('anvil_setCode', [authority, '0x'])
    const { exit, err } = await deploy(directory)
    expect(exit).toBe(2)
    expect(err).toContain('(other-deployment)')
  })
})
