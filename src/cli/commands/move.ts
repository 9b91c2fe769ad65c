import type { AccountMove, Client, Hex } from '../../client/index.js'
import { anAddress } from '../../terminal/arguments.js'
import { fields, line, shownTime } from '../../terminal/render.js'
import type { AddCommand } from '../context.js'
import { withWallet } from '../input/connection.js'
import { addCommonOptions, addWalletCommand, type WalletOptions } from '../input/options.js'

const ABOUT = `For a wallet whose key is lost: its institution's admin proposes to move its portfolio to a new wallet of the same person, the new wallet accepts, and the platform's owner approves. A week later the platform carries it out. Until then the lost wallet can object.`

export const addMove: AddCommand = (root, { env, terminal }) => {
  const move = addCommonOptions(root.command('move'))
    .summary("moves a lost wallet's portfolio to a new wallet, or objects to it")
    .description(ABOUT)
  const sends = (options: WalletOptions, act: (client: Client) => Promise<{ txHash: Hex }>, next: string) =>
    withWallet(options, env, async (client) => {
      const { txHash } = await act(client)
      terminal.progress(next)
      terminal.result({ json: { txHash }, blocks: [fields([['transaction', txHash]])] })
    })
  const shown = ({ to, isAccepted, effectiveAt }: AccountMove) =>
    fields([
      ['to', to],
      ['accepted', isAccepted ? 'yes' : 'no'],
      [
        'takes effect',
        effectiveAt === null ? 'not approved' : shownTime(new Date(effectiveAt * 1_000).toISOString()),
      ],
    ])
  addWalletCommand(move, 'propose', 'proposes a move, as the admin')
    .argument('<lost>', 'the lost wallet', anAddress)
    .argument('<new>', 'the new wallet', anAddress)
    .action((from: Hex, to: Hex, options: WalletOptions) =>
      sends(options, (client) => client.proposeMove(from, to), `proposed: ${to} accepts it next`),
    )
  addWalletCommand(move, 'accept', 'accepts a move, as the new wallet')
    .argument('<lost>', 'the lost wallet', anAddress)
    .action((from: Hex, options: WalletOptions) =>
      sends(options, (client) => client.acceptMove(from), "accepted: the platform's owner approves it next"),
    )
  addWalletCommand(
    move,
    'withdraw',
    'ends a move: objects as the wallet itself, or withdraws it as the admin',
  )
    .argument('[lost]', 'the lost wallet; by default the own one', anAddress)
    .action((from: Hex | undefined, options: WalletOptions) =>
      sends(options, (client) => client.withdrawMove({ from }), 'ended: the portfolio stays where it is'),
    )
  addWalletCommand(move, 'show', 'shows the move of a wallet')
    .argument('[lost]', 'the lost wallet; by default the own one', anAddress)
    .action((from: Hex | undefined, options: WalletOptions) =>
      withWallet(options, env, async (client) => {
        const found = await client.getMove({ from })
        const block = found === null ? line(['No move is proposed.']) : shown(found)
        terminal.result({ json: found, blocks: [block] })
      }),
    )
}
