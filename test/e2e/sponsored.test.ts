// An employee without ether: two signatures, and the platform pays.
import { expect, test } from 'vitest'
import { eventually } from '../support/eventually.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'
import { personEnv, runCli } from './support/cli.js'
import { useDesk } from './support/desk.js'

const desk = useDesk()

test('a wallet without ether buys and sells, and sends no transaction', async () => {
  const { sandbox, traders } = desk()
  const [alice] = traders
  const { address } = alice.account
  const env = personEnv(desk(), alice, await temporaryDirectory())
  await sandbox.provider.send('anvil_setBalance', [address, '0x0'])
  const before = await sandbox.provider.getTransactionCount(address)
  const bought = await runCli(['order', 'buy', 'AAPL', '100', '--sponsored'], env)
  expect([bought.exit, bought.err]).toEqual([0, expect.stringContaining('escrow opened in 0x')])
  expect(bought.out).toContain('state\tSETTLED\n')
  const sold = await eventually('the shares are there', async () => {
    const sale = await runCli(['order', 'sell', 'AAPL', '40', '--sponsored'], env)
    return sale.exit === 0 && sale
  })
  expect(sold.out).toContain('state\tSETTLED\n')
  expect(await sandbox.provider.getTransactionCount(address)).toBe(before)
})
