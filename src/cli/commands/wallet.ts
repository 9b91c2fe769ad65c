import type { ComplianceView, Hex, WalletView } from '../../client/index.js'
import { bytes32ToName } from '../../protocol/identifiers.js'
import { addressOfKey } from '../../protocol/publicKey.js'
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
      const reader = connectServer(options, env)
      const address = given ?? addressOfKey(readWalletKey(options, env))
      const [wallet, compliance] = await Promise.all([
        reader.getWallet(address, { signal }),
        reader.getCompliance(address, { signal }),
      ])
      terminal.result(reportOf(wallet, compliance))
    })
}

function reportOf(wallet: WalletView, { equities }: ComplianceView): Report {
  const { leavingAt, invitation } = wallet
  const nameOf = (orgId: Hex) => bytes32ToName(orgId) ?? orgId
  const yes = (flag: boolean) => (flag ? 'yes' : 'no')
  const rows: [name: string, value: string][] = [
    ['address', wallet.address],
    ['screen', wallet.screen],
    ['institution', wallet.orgId === null ? 'none' : nameOf(wallet.orgId)],
    ['role', wallet.role ?? 'none'],
    ['waiting for', wallet.waitingFor.join(', ') || 'nothing'],
  ]
  if (leavingAt !== null) rows.push(['leaving at', new Date(leavingAt * 1_000).toISOString()])
  if (invitation !== null) {
    rows.push(['invited to', nameOf(invitation.orgId)], ['invited by', invitation.admin])
  }
  return {
    json: { ...wallet, equities },
    blocks: [
      fields(rows),
      table(
        ['symbol', 'KYC', 'listed', 'frozen'],
        equities.map(({ symbol, kyc, listed, frozen }) => [symbol, yes(kyc), yes(listed), yes(frozen)]),
      ),
    ],
  }
}
