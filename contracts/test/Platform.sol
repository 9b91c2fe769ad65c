// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

import {Authority} from "../Authority.sol";
import {ConfidentialLedger} from "../ConfidentialLedger.sol";
import {EquityToken} from "../EquityToken.sol";
import {InstitutionRegistry} from "../InstitutionRegistry.sol";
import {OrderEscrow} from "../OrderEscrow.sol";
import {PlatformPool} from "../PlatformPool.sol";
import {IAuthority} from "../interfaces/IAuthority.sol";
import {IConfidentialLedger} from "../interfaces/IConfidentialLedger.sol";
import {IEquityToken} from "../interfaces/IEquityToken.sol";
import {IInstitutionRegistry} from "../interfaces/IInstitutionRegistry.sol";
import {IOrderEscrow} from "../interfaces/IOrderEscrow.sol";
import {IPlatformPool} from "../interfaces/IPlatformPool.sol";
import {TestUsdc} from "../sandbox/TestUsdc.sol";

/// @dev The cheat codes that the tests use. https://getfoundry.sh/reference/cheatcodes/overview
interface Vm {
    function addr(uint256 privateKey) external pure returns (address);
    function computeCreateAddress(address deployer, uint256 nonce) external pure returns (address);
    function getNonce(address account) external view returns (uint64);
    function prank(address sender) external;
    function revertToState(uint256 snapshot) external returns (bool);
    function sign(uint256 privateKey, bytes32 digest) external pure returns (uint8 v, bytes32 r, bytes32 s);
    function snapshotState() external returns (uint256);
    function warp(uint256 timestamp) external;
}

Vm constant vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));

/// @title USDC that refuses wallets, as Circle's does.
contract RefusingUsdc is TestUsdc {
    error Blacklisted(address wallet);

    mapping(address wallet => bool) public isBlacklisted;

    function setBlacklisted(address wallet, bool refused) external {
        isBlacklisted[wallet] = refused;
    }

    function _update(address from, address to, uint256 amount) internal override {
        require(!isBlacklisted[from], Blacklisted(from));
        require(!isBlacklisted[to], Blacklisted(to));
        super._update(from, to, amount);
    }
}

/// @title The platform's contracts, as they are deployed: each knows the addresses of those that come later.
contract Platform {
    uint64 public constant ROTATION_DELAY = 2 days;
    uint64 public constant MAX_PAUSE = 3 days;
    uint64 public constant LEAVE_DELAY = 1 days;
    address public constant OWNER = address(0x0A11);
    address public constant GUARDIAN = address(0x6A1D);
    address public constant BROKER = address(0xB40C);
    uint256 public constant ENCLAVE_KEY = 0xe1;

    RefusingUsdc public immutable usdc = new RefusingUsdc();
    IAuthority public immutable authority;
    IInstitutionRegistry public immutable registry;
    IOrderEscrow public immutable escrow;
    IConfidentialLedger public immutable ledger;
    IEquityToken public immutable token;
    IPlatformPool public immutable pool;

    constructor() {
        uint256 first = vm.getNonce(address(this));
        address pool_ = vm.computeCreateAddress(address(this), first + 5);
        address escrow_ = vm.computeCreateAddress(address(this), first + 2);
        IERC20 usdc_ = usdc;
        authority = new Authority(OWNER, GUARDIAN, address(0), ROTATION_DELAY, MAX_PAUSE, usdc_, pool_);
        registry = new InstitutionRegistry(
            authority, usdc_, pool_, vm.computeCreateAddress(address(this), first + 3), LEAVE_DELAY
        );
        escrow = new OrderEscrow(
            authority,
            usdc_,
            pool_,
            registry,
            IConfidentialLedger(vm.computeCreateAddress(address(this), first + 3)),
            IEquityToken(vm.computeCreateAddress(address(this), first + 4))
        );
        ledger = new ConfidentialLedger(
            authority, usdc_, pool_, escrow, registry, IEquityToken(vm.computeCreateAddress(address(this), first + 4))
        );
        token = new EquityToken(authority, usdc_, pool_, address(escrow), ledger.actions());
        pool = new PlatformPool(authority, usdc_, token, address(escrow), BROKER);
        require(address(pool) == pool_ && address(escrow) == escrow_, "addresses");
    }
}
