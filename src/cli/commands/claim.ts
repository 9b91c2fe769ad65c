import { type Claim, type Client, type Hex, SHARE_DECIMALS, USDC_DECIMALS } from '../../client/index.js'
import { addressSchema } from '../../protocol/address.js'
import { symbolSchema } from '../../protocol/identifiers.js'
import type { Command } from '../command.js'
import { EXIT } from '../exitCodes.js'
import { UsageError } from '../failure.js'
import { parsed, readArguments, WALLET_OPTIONS } from '../input/arguments.js'
import { connectWallet } from '../input/connection.js'
import type { Report } from '../terminal/terminal.js'

export const claimCommand: Command = {
  name: 'claim',
  summary: 'lists or withdraws claims',
  help: `claim [options]
claim <asset> [--to <address>] [options]

The escrow holds refunds, reclaims and withdrawals that the wallet cannot receive, because USDC has blacklisted it or its
shares are frozen. Without an asset, lists these claims. With USDC or a symbol, pays that claim to the wallet.

  --to <address>   pays another wallet that the platform's owner has approved for this one

With --escrow it needs no server.`,
  usesWallet: true,
  async run(args, { env, terminal }) {
    const { values, positionals } = readArguments(args, { ...WALLET_OPTIONS, to: { type: 'string' } })
    const [asset, ...others] = positionals
    if (others.length > 0) throw new UsageError('expected one asset')
    if (asset === undefined && values.to !== undefined) throw new UsageError('--to: expected an asset')
    const symbol = asset === undefined ? undefined : parsed(symbolSchema, asset, 'the asset')
    const to = values.to === undefined ? undefined : parsed<Hex>(addressSchema, values.to, '--to')
    const { client, close } = await connectWallet(values, env)
    try {
      if (symbol === undefined) terminal.result(listed(await client.getClaims()))
      else terminal.result(await paid(client, symbol, to))
      return EXIT.done
    } finally {
      close()
    }
  },
}

async function paid(client: Client, asset: string, to: Hex | undefined): Promise<Report> {
  const { txHash } = await client.claim(asset, { to })
  return { json: { asset, txHash }, blocks: [{ kind: 'fields', fields: [['transaction', txHash]] }] }
}

function listed(claims: readonly Claim[]): Report {
  return {
    json: { claims: claims.map(({ amount, ...claim }) => ({ ...claim, amount: amount.toString() })) },
    blocks: [
      {
        kind: 'table',
        head: ['asset', 'amount', 'may be paid to'],
        rows: claims.map(({ asset, amount, recipient }) => [
          asset,
          { units: amount, decimals: asset === 'USDC' ? USDC_DECIMALS : SHARE_DECIMALS },
          recipient ?? 'this wallet',
        ]),
      },
      ...(claims.length > 0
        ? []
        : [{ kind: 'line' as const, cells: ['No claims of USDC or listed shares wait for this wallet.'] }]),
    ],
  }
}
