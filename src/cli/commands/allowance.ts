import { type Client, USDC_DECIMALS } from '../../client/index.js'
import { anAmount } from '../../terminal/arguments.js'
import { type Cell, fields } from '../../terminal/render.js'
import type { Report } from '../../terminal/terminal.js'
import type { AddCommand } from '../context.js'
import { withWallet } from '../input/connection.js'
import { addWalletCommand, type WalletOptions } from '../input/options.js'

const ABOUT = `An allowance lets the escrow take USDC for orders that this wallet sends, without a request for each payment: "order --approve" grants one. Without an amount, shows what is left of it. With an amount, replaces it by a transaction; 0 withdraws it. With --escrow it needs no server.`

export const addAllowance: AddCommand = (root, { env, terminal }) => {
  addWalletCommand(root, 'allowance', 'shows, changes or withdraws what the escrow may take', ABOUT)
    .argument('[usdc]', 'the new allowance in USDC', (text) =>
      text === '0' ? 0n : anAmount(USDC_DECIMALS)(text),
    )
    .action((usdc: bigint | undefined, options: WalletOptions) =>
      withWallet(options, env, async (client) => terminal.result(await report(client, usdc))),
    )
}

async function report(client: Client, usdc: bigint | undefined): Promise<Report> {
  const changed = usdc === undefined ? null : await client.setAllowance(usdc)
  const { balance, allowance } = await client.getFunds()
  const rows: [string, Cell][] = [
    ['allowance', { units: allowance, decimals: USDC_DECIMALS, unit: 'USDC' }],
    ['balance', { units: balance, decimals: USDC_DECIMALS, unit: 'USDC' }],
  ]
  if (changed !== null) rows.push(['transaction', changed.txHash])
  const json = {
    allowance: allowance.toString(),
    balance: balance.toString(),
    ...(changed && { txHash: changed.txHash }),
  }
  return { json, blocks: [fields(rows)] }
}
