"""Whether somebody on a call asks not to be called again: by words, in each language that is known, or by a key."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

OPT_OUT_KEY = "9"
"""The key that a person presses alone to say the same. A 9 within a longer entry is no opt-out."""
_CACHED_SAYINGS = 4096
_SENTENCE_ENDS = re.compile(r"[.;!?…।؟？。\n]+")
_EDGES = " \t\"'“”«»¿¡,:-()[]"
_STARTS, _ENDS = r"(?<![\w\u0900-\u0903\u093a-\u094f])", r"(?![\w\u0900-\u0903\u093a-\u094f])"
"""A vowel sign of Hindi is no letter, and stands within a word."""


@dataclass(frozen=True)
class _Words:
    """The words of one language, as regular expressions."""

    requests: str
    """What asks the caller not to call again, unless it is denied."""
    statements: str
    """What says so of the person's own will, or asks to be taken off a list."""
    limits: str
    """What makes another wish of it when it follows: when to call, or by which name."""
    denials: str
    """What makes a request none when it stands before it, in the same sentence."""
    alone: frozenset[str] = frozenset({"stop"})
    """What asks for it only where nothing else is said."""


@dataclass(frozen=True)
class _Patterns:
    """The expressions of one language, compiled."""

    requests: re.Pattern[str]
    statements: re.Pattern[str]
    limits: re.Pattern[str]
    denials: re.Pattern[str]


_EN_CALL, _EN_CALLING = r"(?:call|ring|phone|contact|bother)", r"(?:calling|ringing|phoning|contacting|bothering)"
_EN_NOT = r"(?:(?:don'?t|do not|never)(?: you)?(?: ever| please)?)"
_EN_KEPT = r"(?<!don't )(?<!dont )(?<!not )(?<!never )"
_EN_LIST = r"(?:your|the|this|that|any|all)(?: \w+){0,2} lists?|the list"

_LANGUAGES: Mapping[str, _Words] = {
    "en": _Words(
        requests=(
            rf"{_EN_NOT} {_EN_CALL} (?:me|us|back|again|here|this number|my number|this house|any ?more)|"
            rf"{_EN_NOT} {_EN_CALL}$|(?:stop|quit) {_EN_CALLING}|(?:take|get|remove|delete) (?:me|us|my number) off"
        ),
        statements=(
            rf"{_EN_KEPT}(?:take|get|remove|delete) (?:me|us|my number) off (?:{_EN_LIST})|"
            rf"{_EN_KEPT}remove (?:me|us)(?: from (?:{_EN_LIST})|$| please| now|,)|"
            rf"{_EN_KEPT}(?:remove|delete|erase|lose) my (?:number|data|details)|{_EN_KEPT}unsubscribe(?: me)?|"
            rf"name off (?:{_EN_LIST})|no more (?:phone )?calls|never want to hear from you|"
            r"(?:don'?t|do not|not|never) (?:want|wish) (?:to (?:be (?:called|contacted|phoned)|hear from you)|"
            rf"(?:any )?(?:more|further) calls|these calls)|not to {_EN_CALL} (?:me|us) (?:again|any ?more)"
        ),
        limits=(
            r"(?: (?:me|us|back|again|any ?more|here|this number|on my mobile|at home|at work|please))*,? (?:"
            r"before|until|till|after|during|while|when|between|unless|so (?:early|late|often)|this (?:early|late)|"
            r"today|tonight|tomorrow|now|right now|yet|just yet|for (?:a|an|the next|another) |in the |over the |"
            r"names?|at (?!all|this|my|home|work|any)|on (?!this|my)|next |this (?:morning|week|evening|afternoon)|"
            r"(?:sir|madam|ma'am|mate|love|dear|darling|honey|stupid|crazy|old|an? )|(?-i:(?!Again|Any|Back|Here|Ever|"
            r"Please|Or|And|At|On|I\b|You)[A-Z][a-z]+))"
        ),
        denials=(
            r"(?:\b(?:don'?t|do not|never|didn'?t|did not|not(?: \w+)? to|why would (?:i|you))(?: \w+){0,2}|"
            r"\b(?:i|you|we|they|he|she|who|people|if you|friends)(?: \w+ly)?) $"
        ),
    ),
    "de": _Words(
        requests=(
            r"ruf(?:en sie|t|e)? (?:mich|uns|hier|diese nummer|bei (?:mir|uns))? ?(?:bitte )?(?:nicht|nie)|"
            r"(?:rufen sie|ruf|ruft) (?:bitte )?(?:nicht|nie) (?:mehr|wieder|zurück|nochmal|noch einmal)|"
            r"(?:kontaktieren sie|kontaktiere) (?:mich|uns) (?:bitte )?(?:nicht|nie)|nicht mehr kontaktieren|"
            r"nicht mehr (?:bei (?:mir|uns) )?anrufen|(?:lassen sie|lass|lasst) (?:mich|uns) in ruhe|"
            r"hör(?:en sie|t)? (?:endlich |bitte )?auf,? (?:mich |uns |hier )?anzurufen"
        ),
        statements=(
            r"(?:will|möchte|wünsche|wollen|möchten) (?:\w+ ){0,3}(?:nicht (?:mehr |wieder )?|nie (?:mehr |wieder )?|"
            r"keine (?:weiteren )?)(?:angerufen|kontaktiert|anrufe)|nicht (?:mehr )?angerufen werden|"
            r"(?:streichen|nehmen|löschen|entfernen) sie (?:bitte )?(?:mich|uns|meine (?:telefon)?nummer|meine daten)|"
            r"(?:streich|lösch|nimm|entfern)e? (?:mich|meine nummer|meine daten)|"
            r"(?:aus|von) (?:ihrer|der|eurer) (?:\w*liste|kartei)|keine (?:weiteren )?anrufe(?: mehr)?|"
            r"meine (?:nummer|daten) (?:bitte )?löschen"
        ),
        limits=(
            r"(?: (?:mehr|wieder|bitte|hier|an|mich|zurück|nochmal|noch einmal))*,? (?:vor|nach|um|am|im|in den|"
            r"zwischen|während|bis|wenn|heute|morgen|jetzt|gerade|so (?:früh|spät|oft)|abends|morgens|mittags|nachts|"
            r"sonntags|samstags|werktags|auf dem (?:festnetz|handy)|an (?:wochenenden|sonn|feier|werk)|unter dieser|"
            r"nicht|diese woche|sofort zurück|beim namen)"
        ),
        denials=(
            r"(?:\b(?:warum|wieso|weshalb|nicht gesagt,?|wer)(?: \w+){0,3}|"
            r"\b(?:nicht|ich (?:kann|konnte|werde|wollte|habe|darf)|sie (?:müssen|brauchen|können))(?: \w+){0,3}) $"
        ),
        alone=frozenset({"stop", "stopp"}),
    ),
    "fr": _Words(
        requests=(
            r"n'(?:appelez|appelle) (?:plus|jamais)|ne (?:appelez|rappelez|téléphonez|contactez) (?:plus|jamais)|"
            r"ne (?:me |nous |m')(?:appelez|appelle|rappelez|rappelle|téléphonez|téléphone|contactez|contacte|dérangez)"
            r" (?:plus|jamais|pas)|(?:arrêtez|arrête|cessez) (?:de (?:m'|me |nous )?|d')(?:appeler|téléphoner|"
            r"contacter|harceler|déranger)"
        ),
        statements=(
            r"ne plus (?:jamais )?(?:m'|me |nous )(?:appeler|rappeler|téléphoner|contacter|déranger)|"
            r"(?:retirez|enlevez|supprimez|rayez|effacez|radiez)(?:-moi|-nous| mon numéro| mes données|"
            r" mes coordonnées)|"
            r"(?:veux|voudrais|souhaite|désire) plus (?:jamais )?(?:être (?:appelée?|contactée?|dérangée?)|"
            r"(?:recevoir )?d'appels?)|plus d'appels?|plus être (?:appelée?|contactée?)|"
            r"(?:laissez|laisse)-(?:moi|nous) tranquilles?|(?:fichez|foutez|laissez)-(?:moi|nous) la paix"
        ),
        limits=(
            r"(?: (?:jamais|ici|s'il vous plaît|plus|pas|tranquille))*,? (?:avant|après|à \d+|à (?:midi|"
            r"cette heure)|le (?:matin|soir|"
            r"week-end|dimanche|lundi|samedi)|pendant|entre|quand|aujourd'hui|demain|maintenant|ce (?:soir|matin)|"
            r"si (?:tôt|tard)|jusqu|cette semaine|"
            r"monsieur|madame|(?-i:[A-Z][a-zé]+))"
        ),
        denials=r"(?:\b(?:pourquoi|ne|n'ai pas dit)(?: \S+){0,3}|\b(?:vous|tu|ils|elles|je|on|qui|il|elle)) $",
    ),
    "es": _Words(
        requests=(
            r"no (?:me |nos )(?:llamen?|llames|vuelvan? a (?:llamar|contactar)|contacten?|molesten?|telefoneen?)|"
            r"no (?:vuelvan?|vuelvas) a (?:llamar|contactar)(?:me|nos)?|no llamen? (?:más|aquí|nunca)|"
            r"(?:dejen?|paren?|deja) de (?:llamar|molestar|contactar)(?:me|nos)?"
        ),
        statements=(
            r"(?:bórr[ea]me|bórrenme|quíteme|quítenme|sáqueme|sáquenme|elimíneme|elimínenme)|"
            r"(?:elimine|borre|quite|eliminen|borren|quiten) (?:mi número|mis datos)|no (?:quiero|deseo) (?:más|"
            r"recibir(?: más)?) llamadas|"
            r"no más llamadas|no (?:quiero|deseo) que (?:me|nos) (?:vuelvan? a )?(?:llam|contact)\w+|(?:déjeme|"
            r"déjenme) en paz"
        ),
        limits=(
            r"(?: (?:más|por favor|aquí|nunca|usted|ustedes))*,? (?:antes|después|a las|a esta hora|por la|por las|"
            r"en (?:la|el|este)|durante|entre|cuando|hoy|mañana|ahora|hasta|el (?:lunes|martes|sábado|domingo)|"
            r"los (?:lunes|sábados|domingos|fines)|tan (?:temprano|tarde)|esta (?:semana|tarde|noche)|todavía|"
            r"señora?|don |doña |mentiroso|(?-i:[A-Z][a-zé]+))"
        ),
        denials=(
            r"(?:\b(?:por qué|si|nunca dije que|no dije que)(?: \S+){0,2}|\b(?:usted|ustedes|ellos|por qué)|"
            r"\bno(?: \S+)?) $"
        ),
        alone=frozenset({"stop", "basta"}),
    ),
    "it": _Words(
        requests=(
            r"non (?:mi |ci )(?:chiami|chiamate|chiamare|richiami|richiamate|telefoni|telefonate|contatti|"
            r"contattate|disturbi|"
            r"disturbate)|non (?:chiamatemi|contattatemi|chiami più|chiamate più|richiami più|richiamate più)|"
            r"(?:smettete|smetta|smettila|basta) (?:di |con le )?(?:chiamar\w*|telefonar\w*|chiamate|telefonate)"
        ),
        statements=(
            r"(?<!non )mi (?:tolga|tolgano|cancelli|cancellino|rimuova)|(?:cancelli|cancellate|rimuova|rimuovete|"
            r"tolga|togliete) (?:il mio numero|"
            r"i miei dati)|non voglio (?:più |altre )(?:chiamate|telefonate|essere (?:chiamat|contattat)\w)|"
            r"non voglio essere (?:più )?(?:chiamat|contattat|richiamat)\w|(?:mi lasci|lasciatemi|mi lasciate) in pace"
        ),
        limits=(
            r"(?: (?:più|per favore|qui|mai|la prego))*,? (?:prima|dopo|alle|a quest'ora|di (?:mattina|sera|notte|"
            r"domenica)|"
            r"la (?:mattina|sera|domenica)|il (?:sabato|lunedì)|durante|tra|fra|quando|oggi|domani|adesso|ora|fino|"
            r"così (?:presto|tardi)|questa|nel |nei |l'appuntamento|signor|(?-i:[A-Z][a-z]+))"
        ),
        denials=r"(?:\b(?:perché|se|non ho detto)(?: \S+){0,2}|\b(?:loro|chi|voi|lei)|\bnon(?: \S+)?) $",
        alone=frozenset({"stop", "basta"}),
    ),
    "nl": _Words(
        requests=(
            r"(?:bel|belt u|bellen jullie) (?:me|mij|ons|hier) (?:alstublieft |alsjeblieft |a\.?u\.?b\.? )?(?:niet|"
            r"nooit)|"
            r"(?:bel|belt u) (?:niet|nooit) (?:meer|terug|weer)|niet meer (?:terug)?bellen|"
            r"(?:stop|hou|houd) (?:op )?met bellen|neem(?:t u)? geen contact|contacteer (?:me|mij) niet"
        ),
        statements=(
            r"niet meer (?:gebeld|benaderd)|(?:wil|wilt|wens) (?:\w+ ){0,2}(?:niet|nooit)(?: meer| weer)? (?:gebeld|"
            r"benaderd)|"
            r"(?:haal|haalt u) (?:me|mij|ons|mijn nummer) van|(?:verwijder|wis|schrap)(?:t u)? (?:mijn (?:nummer|"
            r"gegevens)|me|mij)|"
            r"van (?:de|uw|die|jullie) (?:bel)?lijst|geen (?:telefoontjes|belletjes|telefoon) meer|"
            r"laat (?:me|mij|ons) met rust"
        ),
        limits=(
            r"(?: (?:meer|terug|hier|weer|alstublieft|alsjeblieft|op|met (?:me|mij)))*,? (?:voor|vóór|na|om|tussen|"
            r"tijdens|"
            r"als|vandaag|morgen|nu|zo (?:vroeg|laat|vaak)|'s |in het|op (?:zondag|zaterdag|maandag|mijn werk)|tot|"
            r"deze (?:week|avond)|onder het|vanavond)"
        ),
        denials=(
            r"(?:\b(?:waarom|als u)(?: \S+){0,3}|\b(?:niet|ik (?:kan|kon|mag|zal|hoef|ga)|u hoeft|"
            r"je hoeft)(?: \S+){0,3}) $"
        ),
    ),
    "pt": _Words(
        requests=(
            r"não (?:me |nos )(?:ligue|liguem|ligues|telefone|telefonem|contate|contatem|contacte|contactem|"
            r"perturbe|perturbem|"
            r"incomode|incomodem|chame mais)|não (?:ligue|liguem)(?: (?:mais|de novo|para cá|para aqui|nunca)|$)|"
            r"não (?:volte|voltem) a (?:me )?(?:ligar|contactar|contatar)|(?:pare|parem|deixe|"
            r"deixem) de (?:me )?(?:ligar|"
            r"incomodar|perturbar)"
        ),
        statements=(
            r"(?:tire|tirem|remova|removam|apague|apaguem|retire|retirem) (?:o )?(?:meu número|meu nome|"
            r"meus dados|os meus dados)|(?:me tire|me tirem|me remova|tire-me|tirem-me|retire-me) da|"
            r"não quero mais (?:receber )?"
            r"(?:ligações|chamadas)|não quero mais (?:que (?:me )?liguem|receber)|chega de (?:ligações|chamadas)|"
            r"(?:me deixe|me deixem|deixe-me|deixem-me) em paz"
        ),
        limits=(
            r"(?: (?:mais|por favor|aqui|nunca|para cá))*,? (?:antes|depois|às|a esta hora|de (?:manhã|noite|tarde)|"
            r"à (?:noite|tarde)|durante|entre|quando|hoje|amanhã|agora|até|no (?:domingo|sábado|fim)|"
            r"aos (?:domingos|sábados)|"
            r"tão (?:cedo|tarde)|esta|nesta|neste|e-?mails?|cartas|senhora?|dona |(?-i:[A-Z][a-zé]+))"
        ),
        denials=r"(?:\b(?:por que|se|não disse)(?: \S+){0,2}|\b(?:eles|você|vocês|quem|elas)|\bnão(?: \S+)?) $",
        alone=frozenset({"stop", "pare", "chega"}),
    ),
    "hi": _Words(
        requests=(r"(?:फ़ोन|फोन|कॉल) (?:मत|न (?:कर|की|लगा))|तंग मत (?:करो|करें|कीजिए)"),
        statements=(
            r"(?:नंबर|नम्बर) (?:\w+ )?(?:हटा|मिटा)|(?:सूची|लिस्ट) से (?:\S+ )?(?:हटा|निकाल)|"
            r"दोबारा (?:फ़ोन|फोन|कॉल) (?:न|मत|नहीं)|(?:और )?(?:कॉल|फ़ोन|फोन) नहीं चाहिए|"
            r"(?:कॉल|फ़ोन|फोन) करना (?:बंद|छोड़)|(?:मेरा डेटा|मेरी जानकारी) (?:हटा|मिटा)"
        ),
        limits=r",? (?:अभी|आज|सुबह|रात|से पहले|जब)",
        denials=(
            r"(?:(?:से पहले|के बाद|के समय|बजे तक|अभी|आज|रात को|सुबह|रविवार को|इतनी (?:जल्दी|देर|रात)|इस समय|क्यों|"
            r"तक|दफ़्तर में)(?: \S+){0,2}) $"
        ),
        alone=frozenset({"stop", "बंद करो"}),
    ),
}


def is_opt_out(text: str, language: str) -> bool:
    """Whether what a person said on a call asks not to be called again.

    Sentences count in every known language, since people answer in their own; single words such as `basta` in their
    `language` (BCP-47), and `stop` in each. Who says when to call, or by which name, does not ask for it.
    """
    return _is_opt_out(text, language.strip().replace("_", "-").partition("-")[0].lower())


def is_opt_out_key(entries: Iterable[str]) -> bool:
    """Whether one of the entries that a person made by keys, each with its digits, asks not to be called again."""
    return OPT_OUT_KEY in entries


@lru_cache(maxsize=_CACHED_SAYINGS)
def _is_opt_out(text: str, language: str) -> bool:
    plain = text.replace("’", "'")
    sentences = [" ".join(sentence.split()).strip(_EDGES) for sentence in _SENTENCE_ENDS.split(plain)]
    said = [sentence for sentence in sentences if sentence]
    alone = _LANGUAGES.get(language, _LANGUAGES["en"]).alone
    if len(said) == 1 and said[0].lower() in alone:
        return True
    return any(_asks(sentence, words) for sentence in said for words in _patterns())


def _asks(sentence: str, words: _Patterns) -> bool:
    requested = (
        found for found in words.requests.finditer(sentence) if words.denials.search(sentence[: found.start()]) is None
    )
    return any(
        words.limits.match(sentence, found.end()) is None
        for found in chain(requested, words.statements.finditer(sentence))
    )


@lru_cache(maxsize=1)
def _patterns() -> tuple[_Patterns, ...]:
    return tuple(
        _Patterns(
            re.compile(rf"{_STARTS}(?:{words.requests})", re.IGNORECASE),
            re.compile(rf"{_STARTS}(?:{words.statements})", re.IGNORECASE),
            re.compile(rf"{words.limits}(?:(?<=\s)|{_ENDS})", re.IGNORECASE),
            re.compile(words.denials, re.IGNORECASE),
        )
        for words in _LANGUAGES.values()
    )
