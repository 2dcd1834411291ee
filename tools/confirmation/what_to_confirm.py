"""The sentence that a person has to confirm before a tool dials or spends.

Nobody is asked where nothing would be dialled or spent, where the service would refuse anyway, or where no telephone
rings and no real money moves. What a service does not mark as simulated, or as play money, counts as real.

Every resource that was read, and could change before the request arrives, is bound by its revision: if it changed, the
service refuses the call, whether somebody was asked or not. Simulated resources stay simulated, and are not bound if
only that matters. Another service may show no revisions; then nothing is bound.
"""

from collections.abc import Callable, Mapping
from typing import Any, cast

from anyio import to_thread
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import ValidationError

from callwright.client.errors import NotOffered
from callwright.contract.agents.agents import GetAgent, get_agent
from callwright.contract.audiences import AddAudienceRows, GetAudience, get_audience
from callwright.contract.checks.counts import count_of
from callwright.contract.checks.names import named, quoted
from callwright.contract.declaration.field_types import Money, Spend
from callwright.contract.declaration.revisions import PREFIX
from callwright.contract.deployments.deployments import (
    CreateDeployment,
    DeploymentStatus,
    GetDeployment,
    ListDeployments,
    StartDeployment,
    UpdateDeployment,
    get_deployment,
    list_deployments,
    preview_deployment,
)
from callwright.contract.deployments.inbound import ANSWERING, CreateInboundDeployment
from callwright.contract.deployments.placing import PlaceCall
from callwright.contract.deployments.previews import PreviewDeployment
from callwright.contract.phone_numbers import (
    GetPhoneNumber,
    RentPhoneNumber,
    SearchAvailableNumbers,
    UpdatePhoneNumber,
    get_phone_number,
    search_available_numbers,
)
from callwright.contract.wallet import GetWallet, get_wallet
from callwright.list_files.reading import open_text
from callwright.list_files.unreadable import UnreadableList
from callwright.tools.arguments.csv_to_import import CsvToImport
from callwright.tools.confirmation.change_words import answering_then, begins, change_said
from callwright.tools.confirmation.cost_words import joining_cost
from callwright.tools.references.looked_up import looked_up
from callwright.tools.replies.inbound_words import taking
from callwright.tools.runtime.confirmation import Confirmation
from callwright.tools.runtime.tool_context import ToolContext
from callwright.tools.wording.cleaning import cleaned
from callwright.tools.wording.text import amount, listed

_STARTABLE = frozenset({"draft", "scheduled", "paused"})
_DIALLING = frozenset({"active", "scheduled"})
_CALLING: list[DeploymentStatus] = ["active", "scheduled", "paused"]
_DIALS_MORE = frozenset({"max_concurrency", "calls_per_second", "end_at", "budget_cap"})
_TAKES_MORE = frozenset({"max_concurrency", "inbound"})
_DIGITS_TO_FIND_BY = 7
_LONGEST_GREETING = 500
MOST_ENTRIES = 200
"""Entries on one page of a list."""
_MOST_PAGES = 100
_FIRST_THE_PLAN = "a person has to agree to the plan first. Nothing was made. Call again"
_THEN_START = "then use preview_deployment and start_deployment."
_REPAIR = "Put that right first. preview_deployment shows what else stands in the way."


async def start(context: ToolContext, asked: StartDeployment) -> Confirmation | None:
    """Starting or resuming: the summary of the plan.

    Raises:
        ToolError: the person has to be asked, and there is no plan to ask them about.
    """
    deployment = await looked_up(context, get_deployment, GetDeployment(id=asked.id))
    same_start = asked.plan_id is not None and deployment.get("plan_id") == asked.plan_id
    if same_start or not context.asks(real=_real(deployment)):
        return None
    if deployment.get("status", "draft") not in _STARTABLE:
        return Confirmation(sentence=None, pinned=_bound(deployment))
    if deployment.get("call_type") == "inbound":
        settings = cast("dict[str, Any]", deployment.get("inbound") or {})
        number_id = str(settings.get("phone_number_id") or "a number")
        number = {"number": number_id, **await looked_up(context, get_phone_number, GetPhoneNumber(id=number_id))}
        settings = {**settings, "max_concurrency": deployment.get("max_concurrency")}
        return await _answering(context, str(deployment.get("agent_id")), number, settings, deployment)
    if asked.plan_id is None and context.session.offers(preview_deployment.name):
        try:
            await context.client.ask_lenient(preview_deployment, PreviewDeployment(id=asked.id))
        except NotOffered:
            return Confirmation(
                sentence=f"Call the people of the campaign {_named(deployment)}. No plan or price is known."
            )
        if deployment.get("status") == "scheduled":
            raise ToolError(
                f"plan_id: nobody was dialled. The campaign is scheduled and begins by itself at {begins(deployment)}: "
                "nothing more is needed. Only if the person wants it to begin at once instead, use preview_deployment, "
                "then call again with its plan_id."
            )
        raise ToolError(
            "plan_id: required, because a person has to agree to what exactly happens. Nothing was dialled. Use "
            "preview_deployment, then call again with its plan_id."
        )
    # With the plan, so that a stale one is refused before anybody is asked, and the sentence describes this plan.
    found = await looked_up(context, preview_deployment, PreviewDeployment(id=asked.id, plan_id=asked.plan_id))
    if problems := found.get("problems"):
        said = listed([cleaned(str(problem)) for problem in problems], most=5)
        raise ToolError(f"Nothing was dialled, and nobody was asked: {said}. " + context.hint(_REPAIR))
    sentence = str(found.get("summary") or f"Call the people of the campaign {_named(deployment)}.")
    return Confirmation(
        sentence=f"{sentence} It begins at once, in simulated time." if asked.jump_clock else sentence,
        shown=_first_words(found),
        pinned={"plan_id": found["plan_id"]} if "plan_id" in found else {},
        deployment_id=asked.id,
        people=found["eligible"] if isinstance(found.get("eligible"), int) else None,
        cost_at_most=_spend(cast("dict[str, Any]", found.get("cost") or {}).get("high")),
    )


def _first_words(preview: Mapping[str, Any]) -> str | None:
    """The greeting of the first contact; None if nobody would be called, or the service does not give it."""
    greeting = preview.get("greeting")
    if greeting is None:
        return None
    return f"First words: {quoted(str(greeting), most=_LONGEST_GREETING)}" if greeting else "The contact speaks first."


async def create(context: ToolContext, asked: CreateDeployment) -> Confirmation | None:
    """Drafting costs nothing. auto_start would dial without showing the plan, so it is refused where a person is asked.

    Raises:
        ToolError: auto_start is set where the person has to be asked.
    """
    if asked.auto_start and context.asks(real=await _real_money(context)):
        raise ToolError(f"auto_start: not here, because {_FIRST_THE_PLAN} without auto_start, {_THEN_START}")
    return None


async def place(context: ToolContext, asked: PlaceCall) -> Confirmation | None:
    """A single call. Where a person is asked, a draft is made first, and its plan is what they are asked about.

    Raises:
        ToolError: auto_start is not false where the person has to be asked.
    """
    if asked.auto_start and context.asks(real=await _real_money(context)):
        raise ToolError(f"auto_start: has to be false here, because {_FIRST_THE_PLAN} with it, {_THEN_START}")
    return None


async def bind(context: ToolContext, asked: CreateInboundDeployment) -> Confirmation | None:
    """Letting an agent answer a number: which number and agent, at which hours, and where other calls go."""
    number = await looked_up(context, get_phone_number, GetPhoneNumber(id=asked.phone_number_id))
    if not context.asks(real=_real(number)):
        return None
    if number.get("inbound_deployment_id"):
        return Confirmation(sentence=None, pinned=_bound(number))
    settings = asked.model_dump(mode="json", include={*ANSWERING, "max_concurrency"})
    return await _answering(context, asked.agent_id, {"number": asked.phone_number_id, **number}, settings)


_CALL_AT_ONCE = "To call at once use preview_deployment, then start_deployment with its plan_id."


async def update(context: ToolContext, asked: UpdateDeployment) -> Confirmation | None:
    """Changing an active or scheduled campaign so that it dials more, or other people.

    Raises:
        ToolError: the person has to be asked, and the change does not fit into one question.
    """
    deployment = await looked_up(context, get_deployment, GetDeployment(id=asked.id))
    status = deployment.get("status")
    given = asked.named().keys() - {"id", "name", "metadata"}
    if not given or not context.asks(real=_real(deployment)):
        return None
    inbound = deployment.get("call_type") == "inbound"
    more = _TAKES_MORE if inbound else _DIALS_MORE
    to_confirm = given & more if status == "active" else given
    if status not in _DIALLING or not to_confirm:
        return Confirmation(sentence=None, pinned=_bound(deployment))
    if (
        status == "scheduled"
        and asked.start_at is not None
        and asked.start_at.timestamp() <= context.session.clock.time()
    ):
        raise ToolError(f"start_at: must be later than now, and nobody was asked: nothing was changed. {_CALL_AT_ONCE}")
    if status == "scheduled" and asked.start_at is None and "start_at" in given:
        raise ToolError(
            "start_at: cannot be cleared while the deployment is scheduled, and nobody was asked: nothing was changed. "
            f"{_CALL_AT_ONCE}"
        )
    sentence, things = await change_said(context, deployment, asked, to_confirm)
    if inbound:
        sentence = f"{sentence} {_then_answers(deployment, asked)}"
    return Confirmation(sentence=sentence, pinned=_bound(*things), deployment_id=asked.id)


def _then_answers(deployment: Mapping[str, Any], asked: UpdateDeployment) -> str:
    """How an inbound deployment answers after a change: a change may bring other settings into effect."""
    calls = asked.max_concurrency if asked.max_concurrency is not None else deployment.get("max_concurrency")
    settings = {**answering_then(deployment, asked), "max_concurrency": calls}
    when, rest = taking(settings)
    return f"It then answers {when}. {rest}".rstrip()


async def rent(context: ToolContext, asked: RentPhoneNumber) -> Confirmation | None:
    """Renting a number: which one, at what price.

    Raises:
        ToolError: the person has to be asked, and no number with its price can be named.
    """
    at_twilio = asked.provider == "twilio"
    if not context.asks(real=at_twilio or await _real_money(context)):
        return None
    offer = None if asked.number is None else await _offer(context, asked, asked.number)
    if offer is None and not at_twilio and not await _searchable(context, asked):
        return Confirmation(sentence=f"Rent {_rented(asked)}. Its price is not known.")
    if offer is None:
        raise ToolError(
            "number: required here, because a person has to agree to a number and its price. Nothing was rented. Take "
            "one that is free: search_available_numbers shows them."
        )
    until = "and every month until it is released" if asked.auto_renew else "for one month"
    real = " Twilio is a real carrier: it charges for the number, and calls from it really ring." if at_twilio else ""
    cost = offer.get("monthly_cost") if _cost(offer) is not None else None
    return Confirmation(
        sentence=f"Rent {_rented(asked)}{' at Twilio' if at_twilio else ''} for {_price(offer)} now {until}.{real}",
        pinned={"expected_monthly_cost": cost} if cost is not None else {},
        cost_at_most=None if asked.auto_renew else _spend(cost),
    )


async def renew(context: ToolContext, asked: UpdatePhoneNumber) -> Confirmation | None:
    """Switching the monthly renewal of a number on again."""
    if not asked.auto_renew:
        return None
    number = await looked_up(context, get_phone_number, GetPhoneNumber(id=asked.id))
    if not context.asks(real=_real(number)):
        return None
    if number.get("auto_renew") is True:
        return Confirmation(sentence=None, pinned=_bound(number))
    what = f"{named(str(number.get('number') or asked.id))} every month until it is released"
    return Confirmation(sentence=f"Pay {_price(number)} for {what}.", pinned=_bound(number))


async def add_rows(context: ToolContext, asked: AddAudienceRows) -> Confirmation | None:
    """Adding people to an audience that is being called."""
    return await joining(context, asked.id, lambda: len(asked.rows))


async def import_file(context: ToolContext, asked: CsvToImport) -> Confirmation | None:
    """Importing people into an audience that is being called. Raises ToolError if they cannot be counted."""
    return await joining(context, asked.id, lambda: rows_in(asked.csv))


def rows_in(text: str) -> int | None:
    """The number of data rows in a CSV text, as the service counts them; None if it cannot be read."""
    try:
        return sum(1 for _ in open_text(text).rows)
    except UnreadableList:
        return None


async def _answering(
    context: ToolContext,
    agent_id: str,
    number: Mapping[str, Any],
    settings: Mapping[str, Any],
    *others: Mapping[str, Any],
) -> Confirmation:
    agent = await looked_up(context, get_agent, GetAgent(id=agent_id))
    by = _named(agent) if agent.get("name") else named(agent_id)
    when, rest = taking(settings)
    said = f"Let the agent {by} answer everybody who calls {named(str(number.get('number')))}, {when}. {rest}".rstrip()
    return Confirmation(
        sentence=f"{said} Every call costs money, until it is paused or cancelled.",
        pinned=_bound(agent, number, *others),
    )


async def joining(context: ToolContext, audience_id: str, counted: Callable[[], int | None]) -> Confirmation | None:
    """Adding people to an audience: which campaigns would call them too, and at what cost. They are `counted`, in
    a thread, only if a person is asked: a list may have millions.

    Raises:
        ToolError: the person has to be asked, and the people cannot be counted: `counted` gives None.
    """
    if not context.asks(real=True):
        return None
    # Read before the campaigns: one that begins between the two reads changes this revision, and the call is refused.
    bound = _bound(await looked_up(context, get_audience, GetAudience(id=audience_id)))
    to_confirm = [entry for entry in await _callers(context, audience_id) if context.asks(real=_real(entry))]
    if not to_confirm:
        return Confirmation(sentence=None, pinned=bound)
    people = await to_thread.run_sync(counted)
    if people is None:
        raise ToolError(
            "csv: this is not CSV that can be read, so a person cannot be asked how many people are called. Nothing "
            "was imported. Correct the text and call again."
        )
    names = listed([_named(entry) for entry in to_confirm], most=len(to_confirm))
    cost = await joining_cost(context, to_confirm, people)
    return Confirmation(
        sentence=f"Add {count_of(people, 'person', 'people')} to an audience, so that {names} calls them too, {cost}.",
        pinned=bound,
        deployment_id=str(to_confirm[0].get("id")) if len(to_confirm) == 1 else None,
        people=people,
    )


async def _callers(context: ToolContext, audience_id: str) -> list[dict[str, Any]]:
    """Every campaign that calls people who are added to an audience, now or after it is resumed."""
    found: list[dict[str, Any]] = []
    asked = ListDeployments(audience_id=audience_id, status=_CALLING, per_page=MOST_ENTRIES)
    for _ in range(_MOST_PAGES):
        page = await looked_up(context, list_deployments, asked)
        found += cast("list[dict[str, Any]]", page.get("data", []))
        paging = cast("dict[str, Any]", page.get("pagination") or {})
        if not paging.get("has_more"):
            break
        if cursor := paging.get("next_cursor"):
            asked = asked.model_copy(update={"cursor": cursor})
        else:  # another service may have page numbers only
            asked = asked.model_copy(update={"page": (asked.page or 1) + 1})
    # Another service may not know the filters.
    here = [entry for entry in found if entry.get("audience_id", audience_id) == audience_id]
    return [entry for entry in here if entry.get("status") in _CALLING]


async def _real_money(context: ToolContext) -> bool:
    return (await looked_up(context, get_wallet, GetWallet())).get("play_money") is not True


def _bound(*things: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that bind a call to the present revisions; none where the service shows no revisions."""
    found = {str(thing.get("id")): thing.get("revision") for thing in things}
    ours = {thing: shown for thing, shown in found.items() if isinstance(shown, str) and shown.startswith(PREFIX)}
    return {"expected_revisions": ours} if ours else {}


async def _offer(context: ToolContext, asked: RentPhoneNumber, number: str) -> dict[str, Any] | None:
    """An available number with its price."""
    search = SearchAvailableNumbers(
        country=asked.country,
        number_type=asked.number_type,
        contains=number[-_DIGITS_TO_FIND_BY:],
        provider=asked.provider,
        per_page=200,
    )
    found = (await looked_up(context, search_available_numbers, search)).get("data", [])
    return next((offer for offer in found if offer.get("number") == number), None)


async def _searchable(context: ToolContext, asked: RentPhoneNumber) -> bool:
    """Whether the service can list available numbers and their prices."""
    search = SearchAvailableNumbers(country=asked.country, per_page=1)
    try:
        await context.client.ask_lenient(search_available_numbers, search)
    except NotOffered:
        return False
    return True


def _price(number: Mapping[str, Any]) -> str:
    cost = _cost(number)
    return "a price that is not known" if cost is None else f"{amount(cost)} a month"


def _spend(money: Any) -> Spend | None:
    """An amount of the service as a maximum; None where it is not known."""
    try:
        return Spend.model_validate(money)
    except ValidationError:
        return None


def _cost(number: Mapping[str, Any]) -> Money | None:
    try:
        return Money.model_validate(number.get("monthly_cost"))
    except ValidationError:
        return None


def _real(thing: Mapping[str, Any]) -> bool:
    return thing.get("simulated") is not True


def _named(deployment: Mapping[str, Any]) -> str:
    return quoted(str(deployment.get("name") or deployment.get("id") or "without a name"))


def _rented(asked: RentPhoneNumber) -> str:
    return named(asked.number) if asked.number else f"a phone number in {asked.country}"
