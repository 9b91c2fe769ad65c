import { computeAddress } from 'ethers'
import type { ComplianceView, Hex, WalletView } from '../../client/index.js'
import { checksum } from '../../protocol/address.js'
import { bytes32ToName } from '../../protocol/identifiers.js'
import { anAddress } from '../../terminal/arguments.js'
import { fields, table } from '../../terminal/render.js'
import type { Report } from '../../terminal/terminal.js'
import type { AddCommand } from '../context.js'
import { connectServer, readWalletKey } from '../input/connection.js'
import { addServerCommand, type ServerOptions } from '../input/options.js'

const ABOUT = `Without an address, shows the wallet of the private key (--key-file, TRADING_PRIVATE_KEY). The key stays on this machine.`

export const addWallet: AddCommand = (root, { env, terminal, signal }) => {
  addServerCommand(root, 'wallet', "shows a wallet's rights and pending clearances", ABOUT)
    .argument('[address]', "the wallet's", anAddress)
    .option(
      '--key-file <file>',
      "holds the wallet's private key, readable by its owner alone (TRADING_KEY_FILE)",
    )
    .action(async (given: Hex | undefined, options: ServerOptions & { keyFile?: string }) => {
      const { reader } = connectServer(options, env)
      const address = given ?? checksum(computeAddress(readWalletKey(options, env)))
      const [wallet, compliance] = await Promise.all([
        reader.getWallet(address, { signal }),
        reader.getCompliance(address, { signal }),
      ])
      terminal.result(reportOf(wallet, compliance))
    })
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
      fields([
        ['address', wallet.address],
        ['screen', wallet.screen],
        ['institution', institution(wallet.orgId)],
        ['role', wallet.role ?? 'none'],
        ['waiting for', wallet.waitingFor.join(', ') || 'nothing'],
        ...(wallet.leavingAt === null ? [] : [leaving(wallet.leavingAt)]),
        ...(wallet.invitation === null ? [] : invitation(wallet.invitation)),
      ]),
      table(
        ['symbol', 'KYC', 'listed', 'frozen'],
        equities.map(({ symbol, kyc, listed, frozen }) => [symbol, yes(kyc), yes(listed), yes(frozen)]),
      ),
    ],
  }
}
