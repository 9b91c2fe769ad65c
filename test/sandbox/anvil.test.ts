import { JsonRpcProvider } from 'ethers'
import { describe, expect, it } from 'vitest'
import { startAnvil } from '../../src/sandbox/anvil.js'

/** Whether a process with this id exists. */
function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe('startAnvil', () => {
  it('answers as soon as it is returned, with the chain id asked for and funded accounts', async () => {
    const anvil = await startAnvil({ chainId: 4242, accounts: 2 })
    const provider = new JsonRpcProvider(anvil.rpcUrl, 4242, { staticNetwork: true })
    try {
      expect(BigInt(await provider.send('eth_chainId', []))).toBe(4242n)
      const listed: string[] = await provider.send('eth_accounts', [])
      expect(anvil.accounts.map(({ address }) => address.toLowerCase())).toEqual(
        listed.map((address) => address.toLowerCase()),
      )
      expect(await provider.getBalance(anvil.accounts[0]?.address ?? '')).toBe(10_000n * 10n ** 18n)
    } finally {
      provider.destroy()
      await anvil.stop()
    }
  })

  it('ends its process on stop, and a second stop does no harm', async () => {
    const anvil = await startAnvil()
    expect(exists(anvil.pid)).toBe(true)
    await anvil.stop()
    expect(exists(anvil.pid)).toBe(false)
    await anvil.stop()
  })

  it('tells why it cannot start, and does not take another chain on the port for its own', async () => {
    const anvil = await startAnvil()
    try {
      await expect(startAnvil({ port: Number(new URL(anvil.rpcUrl).port) })).rejects.toThrow(
        /Address already in use/,
      )
    } finally {
      await anvil.stop()
    }
  })
})
