import { type Claim, type Client, type Hex, SHARE_DECIMALS, USDC_DECIMALS } from '../../client/index.js'
import { symbolSchema } from '../../protocol/identifiers.js'
import { anAddress, parsedBy } from '../../terminal/arguments.js'
import { usage } from '../../terminal/failure.js'
import { fields, line, table } from '../../terminal/render.js'
import type { Report } from '../../terminal/terminal.js'
import type { AddCommand } from '../context.js'
import { withWallet } from '../input/connection.js'
import { addWalletCommand, type WalletOptions } from '../input/options.js'

const ABOUT = `The escrow holds refunds, reclaims and withdrawals that the wallet cannot receive, because USDC has blacklisted it or its shares are frozen. Without an asset, lists these claims. With USDC or a symbol, pays that claim to the wallet. With --escrow it needs no server.`

export const addClaim: AddCommand = (root, { env, terminal }) => {
  addWalletCommand(root, 'claim', 'lists or withdraws claims', ABOUT)
    .argument('[asset]', 'USDC or a symbol', parsedBy(symbolSchema))
    .option(
      '--to <address>',
      "pays another wallet that the platform's owner has approved for this one",
      anAddress,
    )
    .action((asset: string | undefined, options: WalletOptions & { to?: Hex }) => {
      if (asset === undefined && options.to !== undefined) throw usage('--to: expected an asset')
      return withWallet(options, env, async (client) => {
        terminal.result(
          asset === undefined ? listed(await client.getClaims()) : await paid(client, asset, options.to),
        )
      })
    })
}

async function paid(client: Client, asset: string, to: Hex | undefined): Promise<Report> {
  const { txHash } = await client.claim(asset, { to })
  return { json: { asset, txHash }, blocks: [fields([['transaction', txHash]])] }
}

function listed(claims: readonly Claim[]): Report {
  return {
    json: { claims: claims.map(({ amount, ...claim }) => ({ ...claim, amount: amount.toString() })) },
    blocks: [
      table(
        ['asset', 'amount', 'may be paid to'],
        claims.map(({ asset, amount, recipient }) => [
          asset,
          { units: amount, decimals: asset === 'USDC' ? USDC_DECIMALS : SHARE_DECIMALS },
          recipient ?? 'this wallet',
        ]),
      ),
      ...(claims.length > 0 ? [] : [line(['No claims of USDC or listed shares wait for this wallet.'])]),
    ],
  }
}
