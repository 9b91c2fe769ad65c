// The code that a page bundles: the client, and a wallet in place of the browser extension's.
export { JsonRpcProvider, Wallet } from 'ethers'
export { createClient } from '../../../src/client/index.js'
