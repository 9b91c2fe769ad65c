import type { Client, Hex } from '../../client/index.js'
import { anAddress } from '../../terminal/arguments.js'
import { fields, shownTime } from '../../terminal/render.js'
import type { AddCommand } from '../context.js'
import { withWallet } from '../input/connection.js'
import { addCommonOptions, addWalletCommand, type WalletOptions } from '../input/options.js'

const ABOUT = `For a wallet whose key is lost: its institution's admin proposes to move its portfolio to a new wallet of the same person, the new wallet accepts, and the platform's owner approves. A week later the platform carries it out. Until then the lost wallet can object.`

export const addMove: AddCommand = (root, { env, terminal }) => {
  const move = addCommonOptions(root.command('move'))
    .summary("moves a lost wallet's portfolio to a new wallet, or objects to it")
    .description(ABOUT)
  const sends = (options: WalletOptions, act: (client: Client) => Promise<{ txHash: Hex }>) =>
    withWallet(options, env, async (client) => {
      const { txHash } = await act(client)
      terminal.result({ json: { txHash }, blocks: [fields([['transaction', txHash]])] })
    })
  addWalletCommand(move, 'propose', 'proposes a move, as the admin')
    .argument('<lost>', 'the lost wallet', anAddress)
    .argument('<new>', 'the new wallet', anAddress)
    .action((from: Hex, to: Hex, options: WalletOptions) =>
      sends(options, (client) => client.proposeMove(from, to)),
    )
  addWalletCommand(move, 'accept', 'accepts a move, as the new wallet')
    .argument('<lost>', 'the lost wallet', anAddress)
    .action((from: Hex, options: WalletOptions) => sends(options, (client) => client.acceptMove(from)))
  addWalletCommand(
    move,
    'withdraw',
    'ends a move: objects as the wallet itself, or withdraws it as the admin',
  )
    .argument('[lost]', 'the lost wallet; by default the own one', anAddress)
    .action((from: Hex | undefined, options: WalletOptions) =>
      sends(options, (client) => client.withdrawMove({ from })),
    )
  addWalletCommand(move, 'show', 'shows the move of a wallet')
    .argument('[lost]', 'the lost wallet; by default the own one', anAddress)
    .action((from: Hex | undefined, options: WalletOptions) =>
      withWallet(options, env, async (client) => {
        const found = await client.getMove({ from })
        const at = found?.effectiveAt
        const shown = fields([
          ['to', found?.to ?? 'no move is proposed'],
          ['accepted', found?.isAccepted === true ? 'yes' : 'no'],
          ['takes effect', at == null ? 'not approved' : shownTime(new Date(at * 1_000).toISOString())],
        ])
        terminal.result({ json: found, blocks: [shown] })
      }),
    )
}
