// From the first screen to the right chain, with wallets that are slow, silent or know nothing.
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { findViolations } from './support/accessibility.js'
import { useBrowserDesk } from './support/desk.js'
import { askedOf, changeExtension, type ExtensionOptions, installExtension } from './support/extension.js'

const desk = useBrowserDesk()
const OTHER_CHAIN = 1
const DARK = { colorScheme: 'dark' } as const

/** A page, not yet opened, in a browser with a wallet of Cleo's. */
async function withWallet(options: Partial<ExtensionOptions> = {}): Promise<Page> {
  const { sandbox } = desk()
  const [, , { address }] = sandbox.accounts.employees
  const page = await desk().visit('about:blank', DARK)
  await installExtension(page, {
    ...{ name: 'Example Wallet', address, rpcUrl: sandbox.info.rpcUrl, chainId: sandbox.info.chainId },
    refuses: [],
    ...options,
  })
  return page
}

describe('a wallet that does not answer', () => {
  it.each([
    ['announces itself', 'Example Wallet', false],
    ['is found at window.ethereum', 'Browser wallet', true],
  ])('and %s can be left, asked again, or left for another one', async (_how, name, isPlain) => {
    const page = await withWallet({ isPlain, silentOn: 'eth_requestAccounts' })
    await page.goto(desk().url)
    const wallet = page.getByRole('button', { name })
    const cancel = page.getByRole('button', { name: 'Cancel' })
    await wallet.click()
    await page.getByText('check your wallet…').waitFor()
    expect(await findViolations(page)).toEqual([])
    await cancel.click()
    await cancel.waitFor({ state: 'detached' })

    await wallet.click()
    await page.getByRole('button', { name: /^Ben\b/ }).click()
    await page.getByRole('button', { name: 'Disconnect' }).click()
    expect(await cancel.count()).toBe(0)

    await changeExtension(page, { silentOn: '' })
    await wallet.click()
    await page.getByRole('heading', { name: 'Market', exact: true }).waitFor()
    await page.context().close()
  })
})

describe('a wallet that does not know the platform’s chain', () => {
  it.each([
    ['as it is', { code: 4902 }],
    ['inside of another error', { code: -32_603, data: { originalError: { code: 4902 } } }],
  ])('learns of it, when it says so %s', async (_how, unknownChain) => {
    const page = await withWallet({ chainId: OTHER_CHAIN, unknownChain })
    await page.goto(desk().url)
    await page.getByRole('button', { name: 'Example Wallet' }).click()
    await page.getByRole('button', { name: 'Switch to Sandbox' }).click()
    await page.getByRole('heading', { name: 'Market', exact: true }).waitFor()
    expect(await askedOf(page, 'wallet_addEthereumChain')).toBe(1)
    await page.context().close()
  })
})
