import { readdir } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { Contract, toQuantity, Wallet } from 'ethers'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { waitForReceipt } from '../../src/chain/waitForReceipt.js'
import { startAnvil } from '../../src/sandbox/anvil.js'
import { testUsdcAbi } from '../../src/sandbox/generated/testUsdc.js'
import { deployTestUsdc } from '../../src/sandbox/localChain.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'

describe('startAnvil', () => {
  it('keeps every block, transaction and log, the latest states alone, and writes no file', async () => {
    const home = await temporaryDirectory()
    vi.stubEnv('HOME', home)
    onTestFinished(() => void vi.unstubAllEnvs())
    const anvil = await startAnvil({ states: 16 })
    onTestFinished(() => anvil.stop())
    const { provider } = anvil
    const [account] = anvil.accounts
    if (account === undefined) throw new Error('the chain has no accounts')
    const wallet = new Wallet(account.privateKey, provider)
    const usdc = new Contract(await deployTestUsdc(wallet, provider), testUsdcAbi, wallet)
    const sent = await usdc.getFunction('mint').send(account.address, 1n)
    const mint = await provider.getTransactionReceipt(sent.hash)
    // More than the states that anvil would keep in memory by itself.
    await provider.send('anvil_mine', [toQuantity(1_000)])

    const head = await provider.getBlockNumber()
    expect(await provider.getTransactionReceipt(sent.hash)).toEqual(mint)
    const logs = await provider.getLogs({ address: await usdc.getAddress(), fromBlock: 0 })
    expect(logs.map(({ transactionHash }) => transactionHash)).toEqual([sent.hash])
    expect(await provider.getBlock(mint?.blockNumber ?? -1)).toMatchObject({ transactions: [sent.hash] })
    const nonceAt = (block: number) => provider.getTransactionCount(account.address, block)
    expect(await nonceAt(head - 14)).toBe(2)
    await expect(nonceAt(head - 20)).rejects.toThrow(/BlockOutOfRange/)
    expect(await readdir(home)).toEqual([])
  })

  it('keeps no more of them when it mines several blocks a second, and mines until it is told not to', async () => {
    const anvil = await startAnvil({ blockTime: 0.05, states: 4 })
    onTestFinished(() => anvil.stop())
    const { provider } = anvil
    await expect.poll(() => provider.getBlockNumber(), { timeout: 30_000 }).toBeGreaterThan(10)
    await provider.send('evm_setIntervalMining', [0])
    const head = await provider.getBlockNumber()
    await expect(provider.getBalance(anvil.accounts[0]?.address ?? '', 1)).rejects.toThrow(/BlockOutOfRange/)
    await provider.send('anvil_mine', [toQuantity(1)])
    // One may have been on its way.
    expect(await provider.getBlockNumber()).toBeLessThanOrEqual(head + 2)
  })

  it('mines at once what waits, and seldom where nothing does', async () => {
    const anvil = await startAnvil({ blockTime: 0.05, idleTime: 3_600 })
    onTestFinished(() => anvil.stop())
    const { provider } = anvil
    await expect.poll(() => provider.getBlockNumber(), { timeout: 30_000 }).toBe(1)
    const wallet = new Wallet(anvil.accounts[0]?.privateKey ?? '', provider)
    for (const block of [2, 3]) {
      const sent = await wallet.sendTransaction({ to: wallet.address })
      expect((await waitForReceipt(provider, sent.hash))?.blockNumber).toBe(block)
    }
    await sleep(500)
    expect(await provider.getBlockNumber()).toBe(3)
  })

  it('tells why it cannot start, and does not take another chain on the port for its own', async () => {
    const anvil = await startAnvil()
    onTestFinished(() => anvil.stop())
    const port = Number(new URL(anvil.rpcUrl).port)
    await expect(startAnvil({ port })).rejects.toThrow(/Address already in use/)
  })
})
