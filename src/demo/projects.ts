/** What an application is about; `{place}` stands for a town. */
export interface Project {
  readonly domain: string;
  readonly title: string;
  readonly need: string;
  readonly plan: string;
  readonly result: string;
}

/** Projects by domain, each as "title | need | plan | result". */
type ProjectTexts = Readonly<Record<string, readonly string[]>>;

const fundTexts: ProjectTexts = {
  ["Water and soil"]: [
    "Rain gardens for the school yards of {place} | After heavy rain the school yards of {place} stand under water for days and the sewers overflow into the river. | Pupils, parents and a landscape office will replace 900 square metres of asphalt with planted hollows that hold and clean the water. | Two schools will drain without the sewer, and a building guide will let other schools repeat the work.",
    "A soil map made by farmers around {place} | The official soil map of {place} is forty years old and too coarse to plan cover crops with. | Thirty farms will take samples on a common grid, and a laboratory will analyse carbon, structure and nitrogen. | An open map at field scale will show where cover crops bind most carbon and where leaching threatens the wells.",
    "Restoring the mill leats of {place} | Dry summers leave the streams of {place} without water for weeks while old leats lie silted up. | Volunteers and a stonemason will clear four kilometres of leats and rebuild three sluices that share water between streams. | The streams will keep a minimum flow, and a water calendar will be agreed with all who draw from them.",
    "Composting toilets for the allotments of {place} | Four hundred allotment holders in {place} share one chemical toilet, whose waste is taken away by lorry. | We will build eight composting toilets, train caretakers and test the compost for pathogens every quarter. | Lorry trips will end, and the test series will be published for other associations and their health offices.",
    "Cleaner run-off from the roads into {place} | Tyre particles and salt from the ring road of {place} reach the wetland without any treatment. | Two planted filter beds will be set beside the main outlets and sampled after every storm for eighteen months. | We expect to hold back most of the solids and will publish the costs of building and tending such beds.",
    "Wells that neighbours measure in {place} | Nobody in {place} knows how fast the groundwater falls, since only two public wells are measured. | Households will hang simple loggers into sixty private wells and read them out each month with school classes. | A public level for every street will give the town a sound basis for its watering rules.",
    "Hedges against erosion on the slopes of {place} | Each spring the slopes above {place} lose soil onto the road, and the ditches have to be dug out. | Nine owners will plant six kilometres of hedges along the contour with seed gathered from old hedges nearby. | Soil loss will be measured with simple traps on planted and open slopes and compared over three winters.",
  ],
  ["Buildings and energy"]: [
    "A light roof for the market hall of {place} | The market hall of {place} closes in winter because its roof leaks and its heating costs more than the stalls bring in. | A timber roof with wood-fibre insulation will be prefabricated by apprentices and lifted on during the summer break. | The hall will open all year with a third of the heat, and the drawings will be free to use.",
    "Heat from the laundry for the homes of {place} | The hospital laundry of {place} blows warm air at fifty degrees over the roof every working day. | A heat exchanger and a short pipe will take this heat to forty flats next door, which now burn oil. | The tenants' bills will fall and will be published, together with the contract between laundry and tenants.",
    "Draught watch: measuring old flats in {place} | Tenants in {place} are told to air and heat better, yet nobody has measured how leaky their flats are. | A lending set of fans and cameras will go from house to house with trained neighbours, one street each month. | Two hundred flats will have a measured list of the leaks that can be closed for less than a day's work.",
    "Straw walls for the village school of {place} | The village school of {place} needs two classrooms, and a concrete extension would be beyond its means. | Straw from three farms will be pressed into wall panels in the old barn and put up with parents at weekends. | The classrooms will be measured for heat and damp over two winters, and the panel press will stay in the village.",
    "Shared batteries for the balconies of {place} | Balcony modules in {place} give their power away at noon and their owners buy it back in the evening. | Twelve staircases will share one battery each, with a meter that settles fairly between the neighbours. | We will show what a shared battery saves in comparison with single ones and what tenants need to agree on.",
    "Lime and hemp for the terraced houses of {place} | The terraced houses of {place} are damp, and foam insulation has made the walls of some of them worse. | Six houses will be lined with lime and hemp by a local firm that trains two others on the job. | Moisture sensors in every wall will run for three years and their readings will be open.",
    "Cool rooms for hot weeks in {place} | In hot weeks the elderly of {place} have no cool place that they can reach on foot. | Five cellars and chapels will be fitted with night ventilation, seats and water and opened by volunteers. | Visits and temperatures will be counted, and the opening plan will become part of the town's heat plan.",
  ],
  ["Food and farming"]: [
    "A mill of our own for the bakers of {place} | Grain grown around {place} travels three hundred kilometres to be milled and comes back as flour. | Five growers and four bakers will run a stone mill in the old fire station and agree on prices before each harvest. | A hundred tonnes a year will be grown, milled and baked within twenty kilometres.",
    "Old pulses, new kitchens in {place} | School kitchens in {place} would serve more beans and peas but find neither recipes nor suppliers. | Six farms will grow eleven old varieties, and cooks will test them in three canteens for a year. | We will hand over a recipe book, seed for other farms and figures on yield, cost and what children leave on the plate.",
    "Winter vegetables without heating in {place} | From December to March no local vegetables are sold in {place}, although the light would be enough. | Four market gardens will grow fourteen crops in unheated tunnels and keep a common diary of sowing and frost. | The diary will become a growing calendar for the region, and a winter box will run for 120 households.",
    "Grazing the flood meadows of {place} | The flood meadows of {place} are no longer mown, and willows are closing over rare plants. | Two shepherds will graze sixty hectares in rotation, with collars in place of fences that the river takes. | Plants will be counted before and after, and the collars' cost per hectare will be published.",
    "The second harvest of {place} | A fifth of the fruit around {place} stays on the trees because picking does not pay. | A small lorry with press and pasteuriser will go to the orchards, and pickers will be paid in juice or money. | In two seasons we want to bring in eighty tonnes and hand the lorry over to a cooperative.",
    "Milk from small herds: a shared dairy for {place} | Herds of fewer than fifteen animals around {place} have no dairy that collects their milk. | Eight families will set up a dairy in two containers and take turns at it after a common training. | The dairy will meet the hygiene rules from the first day and earn its running costs in the second year.",
    "Seed keepers of {place} | Local varieties around {place} survive in a few gardens whose owners are growing old. | Schools and gardeners will collect, describe and multiply forty varieties and lend the seed like books. | A lending library with rules for clean seed will stay in the public library after the project.",
  ],
  ["Repair and reuse"]: [
    "A tool library on wheels for {place} | In the outer villages of {place} every household buys tools that it uses once a year. | A van with 300 tools will stop in nine villages each fortnight, with someone on board who can explain them. | Lending will be counted per tool, so that others can see which tools are worth sharing.",
    "Doors, windows, bricks: a parts yard in {place} | Sound parts from demolished houses in {place} go to landfill because nobody takes stock of them. | A surveyor will list parts before each demolition, and a yard with a catalogue will store and sell them. | We aim to place 200 tonnes with builders in the first year and to agree on a standard for describing parts.",
    "Repair as a school subject in {place} | Young people in {place} leave school without ever having opened a machine. | Three schools will teach repair for two hours each week, with retired mechanics and a common set of lessons. | The lessons will be tried with 240 pupils, revised and published with lists of parts and tools.",
    "Spare parts on demand for {place} | Good appliances in {place} are thrown away for want of a plastic part that costs two euros. | A workshop will measure, draw and print such parts, and test them for strength and heat before they go out. | An open catalogue of 150 tested parts will be kept with the region's repair cafés.",
    "Second life for work clothes in {place} | The clinics and works of {place} throw away twelve tonnes of work clothes a year that are still strong. | A sewing workshop will sort, mend and remake them, and return part of them to the same firms. | We will know what can be remade at what cost, and eight people will have found lasting work.",
    "Bicycles that last: a frame workshop for {place} | Cargo bicycles in {place} break at the same welds after two winters and nobody repairs them. | A workshop will repair frames, keep a record of every fracture and build a jig that other shops can copy. | The record of fractures will be shared with makers, and three shops will be trained.",
    "A reuse desk for the offices of {place} | Offices in {place} replace furniture every seven years, and schools nearby lack desks. | A small team will take stock when offices move, repair what is worn and deliver to schools and clubs. | In two years 4,000 pieces will have been passed on, with a fair price that covers the costs.",
  ],
  ["Coast and sea"]: [
    "Seagrass meadows off {place} | Anchors and warm summers have halved the seagrass off {place} within fifteen years. | Divers and fishers will replant two hectares and mark mooring buoys so that nobody needs to anchor there. | Survival of the shoots will be counted each season, and the harbour will keep up the buoys.",
    "Nets that come home to {place} | Worn nets are stored behind every shed in {place} and some of them end up in the sea. | The harbour will take nets back, sort them by fibre and sell them on under a contract with a spinning mill. | Thirty tonnes a year will be collected, and the return scheme will pay for its own sorter.",
    "Oysters as a breakwater for {place} | Winter storms take a metre of the shore of {place} each year, and stone walls shift the damage to neighbours. | Reefs of shell bags will be laid out along 400 metres and settled with native oysters. | Shore profile and wave height will be measured on both sides of the reef for three winters.",
    "Quiet engines for the small boats of {place} | Two-stroke engines foul the lagoon of {place}, and electric ones are too dear for those who live by fishing. | Ten boats will be refitted by a local yard, with batteries that two boats share and a charging post at the pier. | Costs per day at sea will be compared openly with those of ten boats that keep their engines.",
    "Reading the tide marsh of {place} | The tide marsh of {place} is to be diked off, yet nobody has measured how much flood water it holds. | Residents and a research station will set up gauges, fly a camera each quarter and count breeding birds. | The town will decide on the dike with three years of data before it, open to all sides.",
    "Seaweed for the gardens of {place} | Every autumn {place} pays to bury two thousand cubic metres of seaweed from its beaches. | Gardeners and the works department will wash and compost it, and test salt and metals in each batch. | The compost will replace peat in the town's beds, and the method will be described step by step.",
    "Lights out for the seabirds of {place} | Young shearwaters leaving their nests near {place} are drawn to the harbour lights and die on the quay. | Lamps will be shielded and dimmed in the weeks of fledging, and volunteers will count and return the birds. | Harbour master and biologists will agree on a lighting plan that keeps work safe and birds alive.",
  ],
};

const residencyTexts: ProjectTexts = {
  ["Ceramics"]: [
    "Glazes from the ash of {place} | The sawmills of {place} burn bark and landfill the ash, which potters once used for glazes. | I will fire two hundred test tiles from eleven ashes and build a set of tableware for the village hall. | The recipes will stay with the studio, and the hall will eat from the plates.",
    "Brick songs for {place} | The last brickworks of {place} closed a generation ago and its workers' songs were never written down. | I will record former workers and press their words into six hundred bricks with the old moulds. | The bricks will become a bench at the station, with the recordings in the local archive.",
  ],
  ["Textiles"]: [
    "Weaving the timetable of {place} | The bus lines of {place} have shrunk to a few a day, and with them the reach of those without a car. | I will weave one year of departures into a cloth of twelve panels, with passengers choosing the yarns. | The panels will hang in the waiting room and travel to the county hall.",
    "Dye plants on the fallow land of {place} | The fallow plots of {place} are mown and forgotten, although weld and madder would grow there. | I will sow, harvest and dye with a school class and keep a calendar of colours over the residency. | The school will keep the plots, the calendar and a set of dyed wool.",
  ],
  ["Printmaking"]: [
    "A press for every kitchen in {place} | There is no printing workshop open to the public in or near {place}. | I will build twelve small presses from reclaimed wood and print with families at their kitchen tables. | The prints will be bound as a book, and the presses will be lent by the library.",
    "Woodcuts from the storm timber of {place} | The winter storm felled the old lime avenue of {place}, which many had known since childhood. | I will cut and print one large sheet from each of twenty trunks, with stories told by residents. | The sheets will be shown along the replanted avenue and given to those who told the stories.",
  ],
};

/** Domains of the foundation's fund: options of the form and expertise of its reviewers. */
export const fundDomains: readonly string[] = Object.keys(fundTexts);
export const fundProjects = parseProjects(fundTexts);

/** Disciplines of the trust's residencies. */
export const residencyDomains: readonly string[] = Object.keys(residencyTexts);
export const residencyProjects = parseProjects(residencyTexts);

function parseProjects(texts: ProjectTexts): readonly Project[] {
  return Object.entries(texts).flatMap(([domain, projects]) =>
    projects.map((project) => {
      const [title = "", need = "", plan = "", result = ""] = project.split(" | ");
      return { domain, title, need, plan, result };
    }),
  );
}

/** Replaces `{place}` in a text. */
export function insertPlace(text: string, place: string): string {
  return text.replaceAll("{place}", place);
}
