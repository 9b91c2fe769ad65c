import { ENVELOPE_SCHEME } from '../../protocol/envelope.js'

// One story: an order, a rulebook and a receipt. The sealed bodies and signatures are frozen vectors of docs/protocol.md, so a
// server whose keys are those of the vectors takes them.

const ACCOUNT = '0x5d5c99EdF529335160FF180fA141Dd4967fc00D2'
const ORDER_ID = '0x0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20'
const ORG_ID = '0x4578616d706c65204361706974616c0000000000000000000000000000000000'
const RUN_ID = '5dc2a284-70d3-4eee-95c6-57ac51d6c5e0'
const ESCROW = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
const USDC = '0xB7f8BC63BbcaD18155201308C8f3540b07f84F5e'
const COMMIT = '0xa51616d43f3b3c223e66d3d34bcaffcae223938be94548ab7a1d9abc8240b8e2'
const DIGEST = '0x95c9f817928c8a177ec6bd3dbd1e53d0306cf0edc37a4d50dfb69363d974966d'
const TX_HASH = '0x3a1f6f1b3a2f0d9c4d1c61be0bd2f9f6c0a6f2f5a07f0e8a95d2f4fd0b1a7c55'
const ORDER_ENVELOPE = {
  epk: '0x031eafc5715a488cec873b85f397b6aeda16392e2ae1e24e7998737472d23ce451',
  iv: '0x000102030405060708090a0b',
  ct: '0x1c0c62246ca4fbde0c76213985bc562947d05c122a3b09f4a5468d2fc87cca943e505e3806be2c350cc5d29832e26f2035026dec35aa566128f045dbcb395fdcbe4d920b61c5607aec182baa1b29f7f258ee6ba8b1018597bd038cade284519c66d3710e57bce122cd27b8818c47c7902dc941ec562fa8be4265af29530fc86c0312646877e9670238f29cd0301c778d647d89d1e1b8b9c47c7fb14ea780e4757476fb0cab756510549a2a00e368abf84f9628542446e04884da61df31636a052fc11471e69d09f2b62a16c779cb0bdb7070da2e2254a1ecc906016b1eda41ffa0e0e9520ea3638d9e386be8d5a98d126b66cbb13d743710be011aa80727d3670095b0b311d62ab27849a077470b9f13f3cc07f760fa88ddc61feb0c5d22fab6ed740c9acbdc5fe7f218e0da29e94536b43f5a3204baf0c8f4f4fafc00deb8777eabce3a80e54e80cc06337214c13c044711c6c8b0f3b56fdac09e6fa0f8a9e22208203282c0ca7bdd99a76808f5d0f3575678a9be051ccffcc8e250c8c550b5b0ec3bad077da3d7b3558cf6022d3e703309b9eaa8b5dd1eb8b0b3575284dd46c8f457307fbbfeba6af0fc4bb1f918bead331948f045f50bc76352b32127f042c59c7875beb10edae6ebe3f62114587bd440a698e8ca0847fef2a096aa4751d9c61402d3f98724b91841013a50fd7979c3a134dfd7596cc1bab4eead3340057097979d9830625f8622414b01525081087968740010246fd7501c81f3d3225bb6045c6060a35a1e7184f2d9116a4ac3b7dde5ae54024e06e4acb0c8d3779ec208e0adf1963352ccba6aca1343383879da4473dd5178b08a73a1ae2faaec39f87b59412acd1e01764a0cb3ed9f91c989f53abe87b9a5256cc295b06d6a9a7b22f0f6b063b0e8def5daa918f8134949b65fb080b46d24948151e4e9df05360d80f6abef7b3f244f2759e0b4c897d6176c6d86d8db8b3e28dfb2df413f5343034bb3a2fd6433e14d6871f3fca9fc87f472e7c575172ff0cb4d7d89ded5c45612a3f9f91f01a6f7a1eac3994d6baf08493dd0b3826ca6a3054a43ba9b10146566f868',
  tag: '0x072c2252ce3a9db76c0cd6c390cba9ab',
}
const NOTICE = {
  epk: '0x031eafc5715a488cec873b85f397b6aeda16392e2ae1e24e7998737472d23ce451',
  iv: '0x000102030405060708090a0b',
  ct: '0x1c8a48121371699c218f5f200b2fee9975ac244c4cf708a02af56d48bd6ee787bec66411d28a07441e22f012583567c2094ebc0a0253d6e014bc4c6225ea1325706333d7c17c3b47e17e4a37a7ba9d5376c9aec1328166b5e8bbd3ebddc39f516b0fbde14f6214533fd789fc880fb937b5e79d15bd9b40873d2b64f09cefa325b0456b1575577fc0a9fd3e0694e41c80c0631cfb3e143591b2ba110a0e3cbb04787944de70f9ce57ce15f9bb665dfd532541bb969b0544320606438d2c99d8bcb91d34a142f16a8701a3576e2d2a08a6099f03fd0441ea33c85dbdf2a4b1700e464def591abc381a9885193ad2b1402b1d5d732246f6d6a2bd1a6f29634306ab',
  tag: '0x5e308ab0418ffe8936215f9a364c90d0',
}
const RECEIVED_AT = '2026-11-23T15:04:05.120Z'
const TRIGGERED_AT = '2026-11-23T15:04:05.480Z'
const SETTLED_AT = '2026-11-23T15:04:11.000Z'
const CONTRACTS = {
  institutionRegistry: '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512',
  orderEscrow: ESCROW,
  confidentialLedger: '0xDc64a140Aa3E981100a9becA4E685f962f0cF6C9',
  equityToken: '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0',
  platformPool: '0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9',
}

/** An example of each body that the routes take or answer, as it travels; by the schema's name. */
export const EXAMPLES: Readonly<Record<string, unknown>> = {
  Address: ACCOUNT,
  Bytes32: ORDER_ID,
  RunId: RUN_ID,
  EnclaveKey: {
    publicKey: '0x036aa3da9b5c1d61956076cb3014ffdaa0996bacdae29ba4b89e39b4088f86ec78',
    chainId: 31337,
    escrow: ESCROW,
    scheme: ENVELOPE_SCHEME,
    usdc: USDC,
    takesOpenings: true,
  },
  PostOrder: { orderId: ORDER_ID, ...ORDER_ENVELOPE },
  PostCancel: {
    epk: '0x031eafc5715a488cec873b85f397b6aeda16392e2ae1e24e7998737472d23ce451',
    iv: '0x000102030405060708090a0b',
    ct: '0x1c0c62246ca4fbde0c76213985bc562947d05c122a3b09f4a5468d2fc87cca943e505e3806be2c350cc5d29832e26f2035026dec35aa566128f045dbcb395fdcbe4d920b61c5607aec182baa1b29f7f258ee6ba8b1018597bd038cade284519c66d3710e57bce122cd27b8818c47c7902dc941ec562fa8be4265af29530fc86c0312646877e9670238f29cd0301c6b966416d7d1ebe2b88b2d2fe441f781b1742125ae0dfb24674254cc2d09b16ea5a749c37d52201ce04a81d8628c34326a062b954070e79b08a1e52e15cf7acd598d2176882e2054a3eddb1a457d4f881dbca9a7c96436e47998dd2064e882f3974a2f15e9d510657957e455559e447b8e661299f6bb458029b47e49f47e464a8605aed515a623b49b84d55bfb1c4d32eaa6fd640098859311a4b71afacb31f95526a42f4a2214aae0d8f8f6afaf458cc8223cc08b6382ff4c9094162061008278135308de8ca8b5f32ec3d78e78b5ebb9a63a186523c3848c629f81b47111b0c6ea15433eedae13598aefd1f640898711a5a3aa28b4133fb0c0a04c98f40e2f6d39740ba3e8b8edce09ada3a71143c0cb51dbe241286dfdbafc7de1e85ef4ee0baeb5200e09b150ec4ad07b46f03664b156d6856a61aaa64ccbffafa0e3600419699252b2d9f18e1a51e9b4e387e854449a875616c7bd9166a15a52132f15ec6a68d3e077c9ce4b78d7fbf6afb520041233',
    tag: '0x14a27ecc435f6046cdb01ca9c9e42b90',
    sig: '0xd47fd328d5cb7b1c600e3d73a8fe028b6592bfdcbffba7d2ebccbce05d4f66b52427a11075c0f4282cb68cd70c54a59e9ed1b07062259a964d2b376dcba3c98b1b',
  },
  PostPolicy: {
    ...{
      epk: '0x031eafc5715a488cec873b85f397b6aeda16392e2ae1e24e7998737472d23ce451',
      iv: '0x000102030405060708090a0b',
      ct: '0x1c0c62246ca4fbde0c76221593d708294d8a585f2d320ff7a3118a2bce2acc973c575a3300b62b640a9ed5cf34b7692635546cec34ab576329f344dfca3c5edabf4a930360cc612bed4a2af91a7df6a759b87bb4b14cc39bb70ec1e2aec00b9320d66a020acce65dc150e5f48a40cf952eba36eb5e5988ce4b61f82c060fc01e50403e6e70cb36102494de9d70577b86210e96d1bef7f9d02733e313e293e86a6176b55af975341959cc7857e16aa4f24b972f532243b6498cda378e30676b517bc51d77e1cb5af2b67e14d573801988212ea86b6b46aba8995f463455dd45b3c9a7c76b75bb29ce813263a698b7ca5b3d55e38205337f10e93b40af240efc210e8dd3c371aa38df3504bc651a48cb7ee4d012ec5cecde8e9848ba504f28e8b3ed741088958301b4a718f6c970b51969f35803765ceeb299af85e7ee17c99b202694d936c7a24092c253723249cd36114919d28efbfcb42cd9d59e20a5aeabb52d0c7c32d6c095268b96a26652a0d5a8545128fabd054e99acc2e404c89050e1e1ba31a25029a4d8e35c8fed1e382f2d364eb5fdfaaf8a1cbfe0b70854d6dc129af7596d7aecf9ee3ef8f01fecfd19e8f764171fa815ff52913d54e17374a24ecf922b20efb5098ee9ecb7a5241d092cd140a29de8ca0349fbf6fb9ff91646c7875616c7bd9166a15a52132f15ec6a68d3e077c9ce4b78d7fbf6afb520041233',
      tag: '0x7edcc258bdc17321b6694d63a72c5549',
    },
    author: {
      orgId: '0x4578616d706c65204361706974616c0000000000000000000000000000000000',
      sig: '0x15b967b28a0d65b4de89dfc762448393c8857ee90bd58cafd4688da66926e9ca5f7e56fcad59eef4e4e2154e11dd4d36df68086196bd3e31292dc905a49a5e8b1b',
    },
  },
  OrderReceived: { orderId: ORDER_ID, result: 'received', commit: COMMIT, receivedAt: RECEIVED_AT },
  OrderStatus: {
    orderId: ORDER_ID,
    state: 'SETTLED',
    account: ACCOUNT,
    amount: '1000000000',
    deadline: '2026-11-23T16:04:00.000Z',
    commit: COMMIT,
    receivedAt: RECEIVED_AT,
    triggers: [
      {
        attempt: 1,
        reason: 'received',
        startedAt: TRIGGERED_AT,
        finishedAt: SETTLED_AT,
        outcome: 'settled',
      },
    ],
    nextTriggerAt: null,
    notice: null,
  },
  Timeline: {
    orderId: ORDER_ID,
    entries: [
      {
        kind: 'opened',
        at: '2026-11-23T15:04:04.000Z',
        txHash: TX_HASH,
        blockNumber: 118,
        event: 'OrderOpened',
      },
      { kind: 'received', at: RECEIVED_AT, commit: COMMIT },
      { kind: 'triggered', at: TRIGGERED_AT, attempt: 1, reason: 'received' },
      { kind: 'relayed', at: '2026-11-23T15:04:09.310Z', digest: DIGEST, status: 'confirmed' },
      { kind: 'settled', at: SETTLED_AT, txHash: TX_HASH, blockNumber: 125, event: 'OrderSettled' },
      { kind: 'outcome', at: SETTLED_AT, attempt: 1, outcome: 'settled' },
    ],
  },
  PolicyVersion: { orgId: ORG_ID, version: 1 },
  Wallet: {
    address: ACCOUNT,
    screen: 'trade',
    orgId: ORG_ID,
    role: 'employee',
    waitingFor: [],
    leavingAt: null,
    invitation: null,
  },
  Institution: {
    orgId: ORG_ID,
    name: 'Example Capital',
    admin: ACCOUNT,
    walletCount: 12,
    rulesVersion: 1,
    openOrders: 2,
    pool: { usdc: '250000000000', openOrders: 7, equities: [{ symbol: 'AAPL', shares: '4721700000' }] },
  },
  Compliance: { address: ACCOUNT, equities: [{ symbol: 'AAPL', kyc: true, listed: true, frozen: false }] },
  Market: {
    asOf: RECEIVED_AT,
    stale: false,
    symbols: [
      {
        symbol: 'AAPL',
        name: 'Apple Inc.',
        price: '211790000',
        previousClose: '209330000',
        bid: '211780000',
        ask: '211800000',
        asOf: RECEIVED_AT,
      },
    ],
    fees: [{ name: 'TAF', per: 'share', rate: '166000000', max: '8300000', on: 'sale' }],
  },
  MarketBars: {
    asOf: RECEIVED_AT,
    stale: false,
    barSeconds: 900,
    symbols: [{ symbol: 'AAPL', bars: [{ at: '2026-11-23T14:30:00.000Z', close: '211790000' }] }],
  },
  MarketClock: {
    isOpen: true,
    nextOpen: '2026-11-24T14:30:00.000Z',
    nextClose: '2026-11-23T21:00:00.000Z',
  },
  Health: {
    status: 'ok',
    version: '0.1.0',
    chainId: 31337,
    contracts: CONTRACTS,
    symbols: ['AAPL', 'TSLA'],
    relayer: '0x976EA74026E726554dB657fA54763abd0C3a0aa9',
    relayers: ['0x976EA74026E726554dB657fA54763abd0C3a0aa9'],
  },
  SignedAuthorization: {
    primaryType: 'OrderSettlement',
    message: {
      orderId: '0x0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20',
      account: '0x5d5c99EdF529335160FF180fA141Dd4967fc00D2',
      asset: '0x5553444300000000000000000000000000000000000000000000000000000000',
      amount: '1000000000',
      commit: '0xa51616d43f3b3c223e66d3d34bcaffcae223938be94548ab7a1d9abc8240b8e2',
      payoutAsset: '0x5553444300000000000000000000000000000000000000000000000000000000',
      payout: '2500000',
      version: '3',
      previous: '0xed5bb5e7973b0878180ba6b0988b7de4f0067ea10f7e7c999691c016dd321c6c',
      enclaveBlob: '0x01ee',
      userBlob: '0x01ff',
    },
    signature:
      '0x09a59ee9ca700489d0904ae2459ab9d758c7aea5d94211799e8917a8a21a8eca3df099b50cbdd8a0ffb7343d1418df6f01439d9fc151e9b7415bdfcbbe539c441c',
  },
  Receipt: {
    digest: DIGEST,
    primaryType: 'OrderSettlement',
    target: ESCROW,
    status: 'confirmed',
    txHash: TX_HASH,
    blockNumber: 125,
    gasUsed: '310442',
    createdAt: '2026-11-23T15:04:09.310Z',
    updatedAt: SETTLED_AT,
    error: null,
  },
  RunNotice: { notice: NOTICE },
  RunResult: { outcome: 'settled' },
  RunResultReceived: { runId: RUN_ID, result: 'received' },
}
