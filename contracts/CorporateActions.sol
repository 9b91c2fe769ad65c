// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {EnumerableSet} from "@openzeppelin/contracts/utils/structs/EnumerableSet.sol";

import {Assets} from "./Assets.sol";
import {Governed} from "./Governed.sol";
import {IAuthority} from "./interfaces/IAuthority.sol";
import {ICorporateActions} from "./interfaces/ICorporateActions.sol";
import {IEquityToken} from "./interfaces/IEquityToken.sol";

/// @title See {ICorporateActions}.
contract CorporateActions is ICorporateActions, Governed {
    using EnumerableSet for EnumerableSet.Bytes32Set;

    /// @dev `denominator` shares become `numerator`.
    struct Ratio {
        uint64 numerator;
        uint64 denominator;
    }

    /// @dev What {enact} and {withdraw} have to know of a proposal. `number` counts them in the order in which they were made.
    struct Proposal {
        uint64 effectiveAt;
        uint64 recordAt;
        uint64 number;
        bytes32 symbol;
        bytes32 successor;
    }

    /// @inheritdoc ICorporateActions
    uint64 public constant MAX_RATIO = 10_000;

    /// @inheritdoc ICorporateActions
    uint256 public constant MAX_RATIOS = 256;

    /// @inheritdoc ICorporateActions
    uint256 public constant MAX_NAMES = 16;

    /// @inheritdoc ICorporateActions
    uint256 public constant MAX_SUPPLY = type(uint128).max;

    /// @inheritdoc ICorporateActions
    IEquityToken public immutable token;

    /// @dev {effectiveAt} of an action in the list.
    uint64 private constant LISTED = type(uint64).max;

    mapping(bytes32 digest => Proposal) private _proposals;

    uint64 private _lastNumber;

    /// @dev The proposals that name the symbol, and that are neither withdrawn nor in the list, but for payments.
    mapping(bytes32 symbol => EnumerableSet.Bytes32Set) private _pending;

    Action[] private _actions;

    /// @dev Of each symbol that it has had, so that shares under a former name follow as well.
    mapping(bytes32 symbol => Ratio[]) private _ratios;

    /// @dev The first name of an equity; zero as long as its symbol has never changed.
    mapping(bytes32 symbol => bytes32) private _firstNameOf;

    /// @dev All names of an equity, the oldest first.
    mapping(bytes32 firstName => bytes32[]) private _names;

    mapping(uint32 entitlement => bool) private _isPaid;

    /// @inheritdoc ICorporateActions
    mapping(bytes32 symbol => bool) public isRetired;

    /// @inheritdoc ICorporateActions
    bytes32 public listHash;

    /// @inheritdoc ICorporateActions
    mapping(bytes32 hash => uint256) public countAt;

    constructor(IAuthority authority_, IEquityToken token_) Governed(authority_) {
        token = token_;
    }

    /// @inheritdoc ICorporateActions
    function propose(Action calldata action) external onlyOwner {
        require(_isWellFormed(action), MalformedAction());
        bytes32 digest = digestOf(action);
        require(effectiveAt(digest) == 0, ActionKnown(digest));
        uint64 from = uint64(Math.max(block.timestamp + authority.rotationDelay(), action.recordAt));
        _proposals[digest] = Proposal(from, action.recordAt, ++_lastNumber, action.symbol, action.successor);
        // A payment is USDC for claims that are there: it depends on no other action, and none on it.
        if (action.kind != Kind.PAYMENT) {
            _pending[action.symbol].add(digest);
            if (action.successor != 0) _pending[action.successor].add(digest);
        }
        emit ActionProposed(digest, action.symbol, action, from);
    }

    /// @inheritdoc ICorporateActions
    function withdraw(bytes32 digest) external onlyOwner {
        _requireProposed(digest);
        _leavePending(digest);
        delete _proposals[digest];
        emit ActionWithdrawn(digest);
    }

    /// @inheritdoc ICorporateActions
    function enact(Action calldata action) external {
        authority.requireNotPaused();
        bytes32 digest = digestOf(action);
        _requireProposed(digest);
        uint64 from = effectiveAt(digest);
        require(block.timestamp >= from, ActionTooEarly(from, block.timestamp));
        if (action.kind != Kind.PAYMENT) {
            _requireNext(digest, action.symbol);
            if (action.successor != 0) _requireNext(digest, action.successor);
        }
        _leavePending(digest);
        _proposals[digest].effectiveAt = LISTED;
        emit ActionEnacted(_actions.length, digest, action.symbol, action);
        _actions.push(action);
        bytes32 hash = keccak256(abi.encode(listHash, digest));
        listHash = hash;
        countAt[hash] = _actions.length;
        _apply(action);
    }

    /// @inheritdoc ICorporateActions
    function effectiveAt(bytes32 digest) public view returns (uint64) {
        return _proposals[digest].effectiveAt;
    }

    /// @inheritdoc ICorporateActions
    function digestOf(Action calldata action) public pure returns (bytes32) {
        return keccak256(abi.encode(action));
    }

    /// @inheritdoc ICorporateActions
    function count() external view returns (uint256) {
        return _actions.length;
    }

    /// @inheritdoc ICorporateActions
    function requirePrefix(bytes32 got) external view {
        // Not by `require`, which would read the error's arguments in each write.
        if (got != 0 && countAt[got] == 0) revert ActionsConflict(listHash, got);
    }

    /// @inheritdoc ICorporateActions
    function requireWhole(bytes32 got) external view {
        require(got == listHash, ActionsConflict(listHash, got));
    }

    /// @inheritdoc ICorporateActions
    function list(uint256 from, uint256 to) external view returns (Action[] memory actions) {
        actions = new Action[](to - from);
        for (uint256 i = from; i < to; i++) actions[i - from] = _actions[i];
    }

    /// @inheritdoc ICorporateActions
    function namesOf(bytes32 symbol) public view returns (bytes32[] memory names) {
        bytes32 first = _firstNameOf[symbol];
        if (first != 0) return _names[first];
        names = new bytes32[](1);
        names[0] = symbol;
    }

    /// @inheritdoc ICorporateActions
    function carry(bytes32 symbol, uint256 amount, uint256 from)
        external
        view
        returns (uint256 carried, uint16 ratios)
    {
        Ratio[] storage all = _ratios[symbol];
        ratios = uint16(all.length);
        carried = amount;
        for (uint256 i = from; i < ratios && carried > 0; i++) {
            Ratio storage ratio = all[i];
            // No amount on chain is above its supply, which {enact} bounds after each ratio: the product fits.
            carried = carried * ratio.numerator / ratio.denominator;
        }
    }

    function _apply(Action calldata action) private {
        Kind kind = action.kind;
        if (kind == Kind.ENTITLEMENT) return;
        if (kind == Kind.PAYMENT) {
            require(!_isPaid[action.entitlement], DividendPaid(action.entitlement));
            _isPaid[action.entitlement] = true;
            return;
        }
        bytes32 symbol = action.symbol;
        _requireCurrent(symbol);
        if (_isRatio(kind)) {
            bytes32[] memory names = namesOf(symbol);
            for (uint256 i = 0; i < names.length; i++) {
                bytes32 name = names[i];
                require(_ratios[name].length < MAX_RATIOS, TooManyRatios(name));
                _ratios[name].push(Ratio(action.numerator, action.denominator));
                uint256 supply = token.totalSupply(name);
                require(supply <= MAX_SUPPLY, SupplyTooLarge(name, supply));
            }
            return;
        }
        isRetired[symbol] = true;
        token.retire(symbol);
        if (kind == Kind.SYMBOL_CHANGE) _addName(symbol, action.successor);
    }

    function _addName(bytes32 symbol, bytes32 successor) private {
        _requireCurrent(successor);
        require(_firstNameOf[successor] == 0, SymbolRetired(successor));
        bytes32 first = _firstNameOf[symbol];
        if (first == 0) {
            first = symbol;
            _firstNameOf[symbol] = symbol;
            _names[symbol].push(symbol);
        }
        require(_names[first].length < MAX_NAMES, TooManyNames(successor));
        _firstNameOf[successor] = first;
        _names[first].push(successor);
    }

    /// @dev No other proposal that names the symbol has an earlier record moment, or was made earlier with the same one.
    function _requireNext(bytes32 digest, bytes32 symbol) private view {
        Proposal storage own = _proposals[digest];
        bytes32[] memory pending = _pending[symbol].values();
        for (uint256 i = 0; i < pending.length; i++) {
            Proposal storage other = _proposals[pending[i]];
            bool isEarlier = other.recordAt == own.recordAt ? other.number < own.number : other.recordAt < own.recordAt;
            require(!isEarlier, ActionOutOfOrder(pending[i]));
        }
    }

    function _leavePending(bytes32 digest) private {
        Proposal storage proposal = _proposals[digest];
        _pending[proposal.symbol].remove(digest);
        _pending[proposal.successor].remove(digest);
    }

    function _isWellFormed(Action calldata action) private view returns (bool) {
        Kind kind = action.kind;
        if (action.recordAt == LISTED) return false;
        _requireEquity(action.symbol);
        if (kind == Kind.SYMBOL_CHANGE) {
            _requireEquity(action.successor);
            if (action.successor == action.symbol) return false;
        } else if (action.successor != 0) {
            return false;
        }
        if (kind == Kind.PAYMENT) {
            if (action.entitlement >= _actions.length || action.denominator == 0) return false;
            Action storage dividend = _actions[action.entitlement];
            return dividend.kind == Kind.ENTITLEMENT && dividend.symbol == action.symbol;
        }
        if (action.entitlement != 0) return false;
        (uint256 numerator, uint256 denominator) = (action.numerator, action.denominator);
        if (!_isRatio(kind)) return numerator == 0 && denominator == 0;
        return numerator > 0 && denominator > 0 && numerator != denominator && numerator <= denominator * MAX_RATIO
            && denominator <= numerator * MAX_RATIO;
    }

    function _isRatio(Kind kind) private pure returns (bool) {
        return kind == Kind.SPLIT || kind == Kind.STOCK_DIVIDEND;
    }

    function _requireEquity(bytes32 symbol) private pure {
        Assets.requireName(symbol);
        require(symbol != Assets.USDC, MalformedAction());
    }

    function _requireProposed(bytes32 digest) private view {
        uint64 from = effectiveAt(digest);
        require(from != 0, NoAction(digest));
        require(from != LISTED, ActionKnown(digest));
    }

    function _requireCurrent(bytes32 symbol) private view {
        require(!isRetired[symbol], SymbolRetired(symbol));
    }
}
