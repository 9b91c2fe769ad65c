import { getFigure } from './support/route.js'

export const wallet = getFigure({
  name: 'wallet',
  title: 'GET /wallet/:address',
  route: '/wallet/:address',
  goal: 0.7,
  notes: ['each wallet is read once for each block of the local chain, which makes one every second'],
  paths: ({ sandbox }) => sandbox.accounts.employees.map(({ address }) => `/wallet/${address}`),
})
