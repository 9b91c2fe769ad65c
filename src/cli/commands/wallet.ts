import { computeAddress } from 'ethers'
import type { ComplianceView, Hex, WalletView } from '../../client/index.js'
import { addressSchema } from '../../protocol/address.js'
import { bytes32ToName } from '../../protocol/identifiers.js'
import type { Command } from '../command.js'
import { EXIT } from '../exitCodes.js'
import { UsageError } from '../failure.js'
import { COMMON_OPTIONS, parsed, readArguments } from '../input/arguments.js'
import { connectServer, readWalletKey } from '../input/connection.js'
import type { Report } from '../terminal/terminal.js'

export const walletCommand: Command = {
  name: 'wallet',
  summary: "shows a wallet's rights and pending clearances",
  help: `wallet [address] [options]

Without an address, shows the wallet of the private key (--key-file, TRADING_PRIVATE_KEY). The key stays on this machine.

  --key-file <file>`,
  usesWallet: false,
  async run(args, { env, terminal, signal }) {
    const { values, positionals } = readArguments(args, { ...COMMON_OPTIONS, 'key-file': { type: 'string' } })
    if (positionals.length > 1) throw new UsageError('expected one address')
    const { reader } = connectServer(values, env)
    const given = positionals[0] ?? computeAddress(await readWalletKey(values, env))
    const address = parsed<Hex>(addressSchema, given, 'the address')
    const [wallet, compliance] = await Promise.all([
      reader.getWallet(address, { signal }),
      reader.getCompliance(address, { signal }),
    ])
    terminal.result(reportOf(wallet, compliance))
    return EXIT.done
  },
}

type Row = [name: string, value: string]

function leaving(at: number): Row {
  return ['leaving at', new Date(at * 1_000).toISOString()]
}

function invitation({ orgId, admin }: NonNullable<WalletView['invitation']>): Row[] {
  return [
    ['invited to', bytes32ToName(orgId) ?? orgId],
    ['invited by', admin],
  ]
}

function reportOf(wallet: WalletView, { equities }: ComplianceView): Report {
  const institution = (orgId: Hex | null) => (orgId === null ? 'none' : (bytes32ToName(orgId) ?? orgId))
  const yes = (flag: boolean) => (flag ? 'yes' : 'no')
  return {
    json: { ...wallet, equities },
    blocks: [
      {
        kind: 'fields',
        fields: [
          ['address', wallet.address],
          ['screen', wallet.screen],
          ['institution', institution(wallet.orgId)],
          ['role', wallet.role ?? 'none'],
          ['waiting for', wallet.waitingFor.join(', ') || 'nothing'],
          ...(wallet.leavingAt === null ? [] : [leaving(wallet.leavingAt)]),
          ...(wallet.invitation === null ? [] : invitation(wallet.invitation)),
        ],
      },
      {
        kind: 'table',
        head: ['symbol', 'KYC', 'listed', 'frozen'],
        rows: equities.map(({ symbol, kyc, listed, frozen }) => [symbol, yes(kyc), yes(listed), yes(frozen)]),
      },
    ],
  }
}
