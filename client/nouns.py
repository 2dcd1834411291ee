"""The methods of the client by noun, one for each operation of the contract."""

from callwright.client.method import Noun, download, listing, method
from callwright.contract import (
    audiences,
    audit_log,
    compliance_reviews,
    confirmations,
    do_not_call,
    event_log,
    inbound_routing,
    overview,
    people,
    phone_numbers,
    providers,
    simulated_callers,
    voices,
    wallet,
    webhooks,
)
from callwright.contract.agents import agents, call_tool_settings
from callwright.contract.calls import calls, conversations, corrections, evidence, transcripts, unconfirmed
from callwright.contract.deployments import deployments, exports, placing, talks


class Agents(Noun):
    """Agents: who speaks on a call."""

    list = listing(agents.list_agents)
    get = method(agents.get_agent)
    create = method(agents.create_agent)
    update = method(agents.update_agent)
    list_versions = listing(agents.list_agent_versions)
    set_call_tools = method(call_tool_settings.set_call_tools)
    set_call_tool_secret = method(call_tool_settings.set_call_tool_secret)
    delete = method(agents.delete_agent)
    talk = method(talks.talk_to_agent)


class Voices(Noun):
    """Voices: the text-to-speech voices an agent can have."""

    list = listing(voices.list_voices)
    get = method(voices.get_voice)
    get_preview = download(voices.get_voice_preview)


class Providers(Noun):
    """Providers: accounts at services that hear, think and speak. `set` takes a key, which nothing shows again."""

    list = listing(providers.list_providers)
    set = method(providers.set_provider)
    remove = method(providers.remove_provider)


class Audiences(Noun):
    """Audiences: the people a campaign calls."""

    list = listing(audiences.list_audiences)
    get = method(audiences.get_audience)
    create = method(audiences.create_audience)
    update = method(audiences.update_audience)
    delete = method(audiences.delete_audience)
    add_rows = method(audiences.add_audience_rows)
    list_rows = listing(audiences.list_audience_rows)
    import_csv = method(audiences.import_audience)
    get_import = method(audiences.get_audience_import)
    list_import_errors = listing(audiences.list_import_errors)


class PhoneNumbers(Noun):
    """Phone numbers: what the organization rents. `rent` charges the first month."""

    list = listing(phone_numbers.list_phone_numbers)
    search_available = listing(phone_numbers.search_available_numbers)
    get = method(phone_numbers.get_phone_number)
    rent = method(phone_numbers.rent_phone_number)
    import_owned = method(phone_numbers.import_phone_number)
    update = method(phone_numbers.update_phone_number)
    release = method(phone_numbers.release_phone_number)
    simulate_call = method(simulated_callers.simulate_inbound_call)
    talk = method(talks.talk_to_number)
    set_inbound_routing = method(inbound_routing.set_inbound_routing)
    remove_inbound_routing = method(inbound_routing.remove_inbound_routing)
    test_inbound_routing = method(inbound_routing.test_inbound_routing)
    list_routing_requests = listing(inbound_routing.list_routing_requests)


class Deployments(Noun):
    """Deployments: campaigns, and numbers whose callers an agent answers.

    `start` and `resume` make calls, and so does `create` with `auto_start`. `create_inbound` calls nobody.
    """

    list = listing(deployments.list_deployments)
    get = method(deployments.get_deployment)
    create = method(deployments.create_deployment)
    clone = method(deployments.clone_deployment)
    create_inbound = method(deployments.create_inbound_deployment)
    update = method(deployments.update_deployment)
    delete = method(deployments.delete_deployment)
    preview = method(deployments.preview_deployment)
    start = method(deployments.start_deployment)
    pause = method(deployments.pause_deployment)
    resume = method(deployments.resume_deployment)
    cancel = method(deployments.cancel_deployment)
    list_contacts = listing(deployments.list_contacts)
    list_evidence = listing(evidence.list_evidence)
    export = download(exports.export_deployment)


class Calls(Noun):
    """Calls: their records, transcripts and recordings."""

    list = listing(calls.list_calls)
    get = method(calls.get_call)
    get_transcript = method(calls.get_transcript)
    get_recording = download(calls.get_recording)
    hang_up = method(calls.hang_up_call)
    resolve = method(unconfirmed.resolve_call)
    correct_disposition = method(corrections.correct_disposition)
    place = method(placing.place_call)
    stats = method(transcripts.get_call_stats)
    read_conversations = method(conversations.read_conversations)
    get_evidence = method(evidence.get_call_evidence)


class Transcripts(Noun):
    """What was said, over many calls."""

    search = listing(transcripts.search_transcripts)


class Wallet(Noun):
    """The wallet: balance, prices and transactions."""

    get = method(wallet.get_wallet)
    update = method(wallet.update_wallet)
    list_transactions = listing(wallet.list_transactions)


class Webhooks(Noun):
    """Webhook subscriptions, and what was sent to them. `create` and `rotate_secret` alone show the secret."""

    list = listing(webhooks.list_webhooks)
    get = method(webhooks.get_webhook)
    create = method(webhooks.create_webhook)
    update = method(webhooks.update_webhook)
    delete = method(webhooks.delete_webhook)
    rotate_secret = method(webhooks.rotate_webhook_secret)
    test = method(webhooks.test_webhook)
    list_deliveries = listing(webhooks.list_webhook_deliveries)
    get_delivery = method(webhooks.get_webhook_delivery)
    replay = method(webhooks.replay_webhook)


class Events(Noun):
    """Events: the log of what happened in the last 30 days, and to whom it was sent."""

    list = listing(event_log.list_events)
    get = method(event_log.get_event)
    list_deliveries = listing(event_log.list_event_deliveries)
    explain = method(event_log.explain_event)
    replay = method(event_log.replay_event)


class Overview(Noun):
    """The overview of an organization."""

    get = method(overview.get_overview)


class AuditLog(Noun):
    """The audit log: who changed what, when, and through which tool."""

    list = listing(audit_log.list_audit_log)


class DoNotCall(Noun):
    """The do-not-call list: numbers that are called in no campaign. `remove` lets a person be called again."""

    list = listing(do_not_call.list_do_not_call)
    get = method(do_not_call.get_do_not_call)
    add = method(do_not_call.add_do_not_call)
    remove = method(do_not_call.remove_do_not_call)
    import_csv = method(do_not_call.import_do_not_call)
    export = download(do_not_call.export_do_not_call)


class People(Noun):
    """One person's data, by their number: what is kept about them, and its deletion."""

    export = method(people.export_person)
    delete = method(people.delete_person)


class ComplianceReviews(Noun):
    """Compliance reviews: what a person has to decide. `decide` resumes nothing by itself."""

    list = listing(compliance_reviews.list_compliance_reviews)
    get = method(compliance_reviews.get_compliance_review)
    decide = method(compliance_reviews.decide_compliance_review)


class Confirmations(Noun):
    """Questions to a person who answers them on a page of the dashboard. Nothing here answers one."""

    ask = method(confirmations.ask_confirmation)
