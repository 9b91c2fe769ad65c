import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { Contract } from 'ethers'
import { describe, expect, it } from 'vitest'
import { DEFAULT_DELAYS } from '../../src/chain/deploy.js'
import { authorityAbi } from '../../src/chain/generated/authorityAbi.js'
import { institutionRegistryAbi } from '../../src/chain/generated/institutionRegistryAbi.js'
import { useChain } from '../support/chain.js'
import { ENCLAVE_SIGNER } from '../support/roles.js'

const program = fileURLToPath(new URL('../../src/operate/deploy.ts', import.meta.url))
const chain = useChain()

interface Run {
  code: number | string | null | undefined
  stdout: string
  stderr: string
}

/** Runs the program with this environment and nothing else. */
function run(env: Record<string, string>): Promise<Run> {
  return new Promise((resolve) => {
    const args = ['--import', 'tsx', program]
    execFile(process.execPath, args, { env: { PATH: process.env.PATH, ...env } }, (error, stdout, stderr) => {
      resolve({ code: error ? error.code : 0, stdout, stderr })
    })
  })
}

function settings(): Record<string, string> {
  const [deployer] = chain().anvil.accounts
  return {
    RPC_URL: chain().anvil.rpcUrl,
    CHAIN_ID: '31337',
    DEPLOYER_PRIVATE_KEY: deployer?.privateKey ?? '',
    OWNER_ADDRESS: chain().account('owner'),
    GUARDIAN_ADDRESS: chain().account('guardian'),
    ENCLAVE_SIGNER,
    USDC_ADDRESS: chain().addressOf('usdc'),
    BROKER_FUNDING_ADDRESS: chain().account('broker'),
  }
}

describe('npm run deploy', () => {
  it('deploys to the chain at RPC_URL and prints the addresses as environment lines', async () => {
    const { code, stdout, stderr } = await run(settings())
    expect(stderr).toBe('')
    expect(code).toBe(0)
    const lines = new Map(
      stdout
        .trim()
        .split('\n')
        .map((line): [string, string] => {
          const [name = '', value = ''] = line.split('=')
          return [name, value]
        }),
    )
    expect([...lines.keys()]).toEqual([
      'INSTITUTION_REGISTRY_ADDRESS',
      'ORDER_ESCROW_ADDRESS',
      'CONFIDENTIAL_LEDGER_ADDRESS',
      'EQUITY_TOKEN_ADDRESS',
      'PLATFORM_POOL_ADDRESS',
    ])
    for (const address of lines.values()) expect(await chain().provider.getCode(address)).not.toBe('0x')
  })

  it('names every missing or malformed setting at once, and never shows a key', async () => {
    const { code, stdout, stderr } = await run({ RPC_URL: 'nowhere', DEPLOYER_PRIVATE_KEY: '0xc0ffee' })
    expect(code).toBe(1)
    expect(stdout).toBe('')
    for (const name of Object.keys(settings())) expect(stderr).toContain(name)
    expect(stderr).toContain('OWNER_ADDRESS: is missing')
    expect(stderr).not.toContain('c0ffee')
  })

  it('takes an empty delay for an absent one', async () => {
    const { stdout } = await run({ ...settings(), ROTATION_DELAY: '', MAX_PAUSE: '', LEAVE_DELAY: '' })
    const registry = /INSTITUTION_REGISTRY_ADDRESS=(0x\w{40})/.exec(stdout)?.[1] ?? ''
    const deployed = new Contract(registry, institutionRegistryAbi, chain().provider)
    expect(await deployed.getFunction('leaveDelay')()).toBe(BigInt(DEFAULT_DELAYS.leave))
    const authority = new Contract(await deployed.getFunction('authority')(), authorityAbi, chain().provider)
    expect(await authority.getFunction('rotationDelay')()).toBe(BigInt(DEFAULT_DELAYS.rotation))
  })

  it('refuses a delay that is no number', async () => {
    const { code, stderr } = await run({ ...settings(), LEAVE_DELAY: '7d' })
    expect(code).toBe(1)
    expect(stderr).toContain('LEAVE_DELAY: expected whole seconds')
  })

  it('refuses a chain that is not CHAIN_ID', async () => {
    const { code, stderr } = await run({ ...settings(), CHAIN_ID: '1' })
    expect(code).toBe(1)
    expect(stderr).toContain('CHAIN_ID is 1, but the chain at RPC_URL is 31337')
  })

  it.each(['1e3', '4503599627370477'])('refuses %s as CHAIN_ID', async (id) => {
    const { code, stderr } = await run({ ...settings(), CHAIN_ID: id })
    expect(code).toBe(1)
    expect(stderr).toContain('CHAIN_ID: expected a chain id from 1 to 4503599627370476')
  })

  it('ends with a message when no chain answers', async () => {
    const { code, stderr } = await run({ ...settings(), RPC_URL: 'http://127.0.0.1:1' })
    expect(code).toBe(1)
    expect(stderr).toContain('ECONNREFUSED')
  })
})
